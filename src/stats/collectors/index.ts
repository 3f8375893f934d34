// The collectors of a cgroup, in the order in which a sweep reads them.
import { cpu } from './cpu.js'
import { diskIo } from './disk-io.js'
import { hugetlb } from './hugetlb.js'
import { memory } from './memory.js'
import { pressure } from './pressure.js'
import { processes } from './processes.js'

export const collectors = [cpu, memory, pressure, diskIo, hugetlb, processes] as const

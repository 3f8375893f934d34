// Every family that Keelson can expose on /metrics/cadvisor. docs/metrics.md lists the upstream ones that it leaves out.
import { cpuFamilies } from './cpu.js'
import { diskFamilies } from './disk.js'
import type { Family } from './family.js'
import { memoryFamilies } from './memory.js'
import { networkFamilies } from './network.js'
import { pressureFamilies } from './pressure.js'
import { processFamilies } from './process.js'
import { alwaysFamilies } from './times-and-limits.js'

const families = {
  ...alwaysFamilies,
  ...cpuFamilies,
  ...diskFamilies,
  ...memoryFamilies,
  ...networkFamilies,
  ...pressureFamilies,
  ...processFamilies,
} as const

/** In the order of the exposition. */
export const allFamilies: readonly Family[] = Object.values(families).sort((a, b) =>
  a.name < b.name ? -1 : 1,
)

const byName = new Map(allFamilies.map((family) => [family.name, family]))

export const familyOf = (name: string): Family | undefined => byName.get(name)

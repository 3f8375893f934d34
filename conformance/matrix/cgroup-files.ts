// Where a process stands in the cgroups of the environment, and what a file there says.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const isV2 = (): boolean => existsSync('/sys/fs/cgroup/cgroup.controllers')

/** Path below the root of the hierarchy, of v2 or of v1's memory controller. */
export function cgroupOf(pid: number): string {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')
  const line = isV2()
    ? lines.find((l) => l.startsWith('0::'))
    : lines.find((l) => l.split(':')[1]?.split(',').includes('memory'))
  if (line === undefined) throw new Error(`process ${pid} is in no memory cgroup`)
  return line.split(':').slice(2).join(':')
}

export const readCgroupFile = (path: string, file: string): string =>
  readFileSync(join('/sys/fs/cgroup', path, file), 'utf8').trim()

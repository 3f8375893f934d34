// This machine: its operating system, its name, and whether systemd runs it.
import { lstatSync, writeFileSync } from 'node:fs'
import { hostname, platform } from 'node:os'
import type { Host } from '../../ports/host.js'

interface HostOptions {
  /** What sd_booted(3) looks at. */
  readonly systemdDirectory?: string
}

export const createHost = ({ systemdDirectory = '/run/systemd/system' }: HostOptions = {}): Host => ({
  os: platform() === 'win32' ? 'windows' : 'linux',
  hasSystemd: () => lstatSync(systemdDirectory, { throwIfNoEntry: false })?.isDirectory() === true,
  hostname,
  pid: process.pid,
  setOomScoreAdj: (value) => writeFileSync('/proc/self/oom_score_adj', String(value)),
})

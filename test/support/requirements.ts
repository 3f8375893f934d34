// What a test needs of the machine. A missing piece skips the test with a reason; where CI is set it fails instead,
// because there the pieces are meant to be installed.
import { existsSync } from 'node:fs'
import { findCommand, missingPackages, type NeedOf } from '../../src/lab/packages.js'

export interface Requirements {
  readonly root?: boolean
  readonly commands?: readonly string[]
  /** Debian packages of a fixture, of a private containerd, or of the images. */
  readonly packages?: readonly NeedOf[]
}

interface Skippable {
  skip(note?: string): void
}

/** The first thing that is missing, in words; undefined when nothing is. */
export function missingRequirement(needs: Requirements): string | undefined {
  if (needs.root && process.getuid?.() !== 0) return 'needs root'
  const commands = (needs.commands ?? []).filter((c) => findCommand(c) === undefined)
  if (commands.length > 0) return `needs the command ${commands.join(', ')}`
  const packages = missingPackages(needs.packages ?? [])
  if (packages.length > 0) return `needs Debian packages: apt-get install ${packages.join(' ')}`
  return undefined
}

export function requires(ctx: Skippable, needs: Requirements): void {
  const missing = missingRequirement(needs)
  if (missing === undefined) return
  if (process.env.CI === 'true') throw new Error(`CI is set, but this test ${missing}`)
  ctx.skip(missing)
}

/** cgroup v2 as the only hierarchy, which is what a kubelet calls v2. */
export const hostHasCgroupV2 = (): boolean => existsSync('/sys/fs/cgroup/cgroup.controllers')

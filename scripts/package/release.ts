// What a build of the packages is about: the source tree, the version, and the one date that all files get.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Release {
  readonly version: string
  /** Of the commit, or $SOURCE_DATE_EPOCH: two builds of one commit give the same bytes. */
  readonly date: Date
}

/** What npm calls a manifest; only the fields that are published. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly files: readonly string[]
}

export const readManifest = (): Manifest =>
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

/** For a tree without git: after the first release, and late enough that tar does not call it implausible. */
const withoutGit = 1_767_225_600

function sourceDate(): number {
  const given = process.env.SOURCE_DATE_EPOCH
  if (given !== undefined && /^\d+$/.test(given)) return Number(given)
  const { stdout, status } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  return status === 0 && /^\d+\s*$/.test(stdout) ? Number(stdout) : withoutGit
}

export const readRelease = (): Release => ({
  version: readManifest().version,
  date: new Date(sourceDate() * 1000),
})

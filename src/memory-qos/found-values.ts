// What files held before our first write to them, on disk before that write, for the rollback. A value is noted once and never
// overwritten by one of ours, whatever happens to the process in between.
import type { CgroupDriver } from '../core/cgroup/name.js'
import { keelsonError } from '../core/errors.js'
import type { TargetLevel } from '../core/memory-qos/targets.js'
import type { CgroupPath } from '../ports/cgroups.js'
import type { Files } from '../ports/files.js'

export interface FoundCgroup {
  readonly level: TargetLevel
  readonly containerId?: string
  /** Control file -> content before our first write. */
  readonly files: Readonly<Record<string, string>>
}

export interface FoundNote {
  readonly path: CgroupPath
  readonly level: TargetLevel
  readonly containerId: string | undefined
  readonly files: Readonly<Record<string, string>>
}

/** What a rollback needs to know besides the values. */
export interface FoundAbout {
  readonly driver: CgroupDriver
  readonly runtimeEndpoint: string
}

export interface FoundValues {
  /** As given, or as stored by the process that wrote the file. */
  readonly about: FoundAbout | undefined
  readonly cgroups: ReadonlyMap<CgroupPath, FoundCgroup>
  /** Returns once everything is on disk; files that are known already keep their first value. */
  note(notes: readonly FoundNote[]): Promise<void>
  forget(paths: readonly CgroupPath[]): Promise<void>
  /** The file itself is removed: nothing is left to restore. */
  clear(): Promise<void>
}

interface FoundValuesOptions {
  readonly files: Files
  readonly path: string
  /** /proc/sys/kernel/random/boot_id: cgroups do not outlive a boot, and neither do these values. */
  readonly bootId: string
  /** Undefined: taken from the file itself. */
  readonly about?: FoundAbout
}

const maxBytes = 64 * 1024 * 1024
const version = 1

interface Stored {
  readonly version: number
  readonly bootId: string
  readonly about?: FoundAbout
  readonly cgroups: Readonly<Record<CgroupPath, FoundCgroup>>
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseStored(path: string, content: Uint8Array): Stored {
  const broken = (why: string, cause?: unknown) =>
    keelsonError(
      'companion.journal',
      `read the found values in ${path}: ${why}; restore the file from a copy, or remove it if no values are to be restored`,
      { path },
      cause,
    )
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder().decode(content))
  } catch (cause) {
    throw broken('not JSON', cause)
  }
  if (!isRecord(json) || json['version'] !== version) throw broken('not of a version that this release knows')
  const { bootId, cgroups } = json
  if (typeof bootId !== 'string' || !isRecord(cgroups)) throw broken('fields are missing')
  for (const [name, entry] of Object.entries(cgroups)) {
    const files = isRecord(entry) ? entry['files'] : undefined
    if (!isRecord(files) || !Object.values(files).every((text) => typeof text === 'string'))
      throw broken(`the entry of ${name} is not a list of files`)
  }
  return json as unknown as Stored
}

export async function openFoundValues(options: FoundValuesOptions): Promise<FoundValues> {
  const { files, path, bootId } = options
  const content = await files.read(path, maxBytes)
  const stored = content === undefined ? undefined : parseStored(path, content)
  const cgroups = new Map<CgroupPath, FoundCgroup>(
    stored === undefined || stored.bootId !== bootId ? [] : Object.entries(stored.cgroups),
  )
  const about = options.about ?? stored?.about
  const save = (): Promise<void> => {
    const next: Stored = {
      version,
      bootId,
      ...(about === undefined ? {} : { about }),
      cgroups: Object.fromEntries(cgroups),
    }
    return files.replace(path, `${JSON.stringify(next)}\n`, { mode: 0o600 })
  }
  return {
    about,
    cgroups,
    async note(notes) {
      let news = false
      for (const { path: cgroup, level, containerId, files: found } of notes) {
        const known = cgroups.get(cgroup)?.files ?? {}
        const added = Object.entries(found).filter(([file]) => known[file] === undefined)
        if (added.length === 0) continue
        news = true
        cgroups.set(cgroup, {
          level,
          ...(containerId === undefined ? {} : { containerId }),
          files: { ...Object.fromEntries(added), ...known },
        })
      }
      if (news) await save()
    },
    async forget(paths) {
      const known = paths.filter((one) => cgroups.has(one))
      if (known.length === 0) return
      for (const one of known) cgroups.delete(one)
      await save()
    },
    async clear() {
      cgroups.clear()
      await files.remove(path)
    },
  }
}

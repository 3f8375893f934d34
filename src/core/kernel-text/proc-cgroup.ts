// /proc/PID/cgroup: where a process stands in each hierarchy.
import { splitLines } from './words.js'

export interface CgroupMembership {
  /** The v2 line `0::PATH`. Undefined: no v2 hierarchy. */
  readonly unified: string | undefined
  /** v1 controller (or `name=systemd`) -> path. Empty on a pure v2 host. */
  readonly controllers: ReadonlyMap<string, string>
}

const DELETED = ' (deleted)'

export function parseProcCgroup(text: string): CgroupMembership {
  const controllers = new Map<string, string>()
  let unified: string | undefined
  for (const line of splitLines(text)) {
    // A path may hold colons (`x.slice:cri-containerd:id` after a driver mismatch): split at the first two only.
    const [, id, names, rest] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    if (rest === undefined || names === undefined) continue
    const path = rest.endsWith(DELETED) ? rest.slice(0, -DELETED.length) : rest
    if (id === '0' && names === '') unified = path
    else for (const name of names.split(',')) controllers.set(name, path)
  }
  return { unified, controllers }
}

/** In the hierarchy that carries the controllers; a hybrid host's empty v2 tree says nothing. */
export const memoryCgroup = (m: CgroupMembership | undefined, version: 'v1' | 'v2'): string | undefined =>
  version === 'v2' ? m?.unified : m?.controllers.get('memory')

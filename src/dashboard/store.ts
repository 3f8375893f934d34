// The snapshot of the node as it arrives: changes are merged, history is kept for the charts, and views are notified.
// Objects that did not change stay the same objects, so that views can skip them.
import type { LiveCgroupRow, LiveChange, LivePod, LiveSnapshot, Part } from '../core/dashboard/model.js'
import { createHistory, type History } from './history.js'

export type Picture = Omit<LiveSnapshot, 'pods' | 'cgroups'> & {
  readonly pods: readonly LivePod[]
  readonly cgroups: Part<readonly LiveCgroupRow[]>
}

export interface Store {
  /** Undefined before the first event. */
  readonly picture: Picture | undefined
  readonly history: History
  apply(change: LiveChange): void
}

const byName = (a: LivePod, b: LivePod): number =>
  a.namespace === b.namespace ? (a.name < b.name ? -1 : 1) : a.namespace < b.namespace ? -1 : 1

export function createStore(): Store {
  const pieces = new Map<string, unknown>()
  const history = createHistory()
  let picture: Picture | undefined

  const below = <T>(prefix: string): T[] =>
    [...pieces].flatMap(([key, value]) => (key.startsWith(prefix) ? [value as T] : []))

  function assemble(): Picture {
    const rest = Object.fromEntries(
      [...pieces].filter(([key]) => !key.startsWith('pod ') && !key.startsWith('cgroup ')),
    ) as unknown as Picture
    const rows = below<LiveCgroupRow>('cgroup ').sort((a, b) => (a.path < b.path ? -1 : 1))
    return {
      ...rest,
      pods: below<LivePod>('pod ').sort(byName),
      cgroups: 'absent' in rest.cgroups ? rest.cgroups : { data: rows },
    }
  }

  return {
    get picture() {
      return picture
    },
    history,
    apply({ whole, set, remove }) {
      if (whole) pieces.clear()
      for (const key of remove) pieces.delete(key)
      for (const [key, value] of Object.entries(set)) pieces.set(key, value)
      picture = assemble()
      history.add(picture)
    },
  }
}

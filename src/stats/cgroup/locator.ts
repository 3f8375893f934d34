// Finds the cgroups of containers and pods without asking the runtime: their names hold the container's id. A walk
// happens only when an id is not known yet.
import { parentPath } from '../../core/cgroup/path.js'
import type { CgroupPath, CgroupTree, WalkOptions } from '../../ports/cgroups.js'
import type { Inventory, PodInfo } from '../runtime/inventory.js'

interface PodCgroups {
  /** Undefined: the pod has no cgroup of its own, only its containers do. */
  readonly pod: CgroupPath | undefined
  readonly sandbox: CgroupPath | undefined
}

export interface CgroupLocator {
  /** Looks for what is new; forgets what is gone. */
  refresh(inventory: Inventory): void
  container(id: string): CgroupPath | undefined
  pod(pod: PodInfo): PodCgroups
}

/** `cri-containerd-<id>.scope`, `crio-<id>.scope`, `<id>`, or `x.slice:cri-containerd:<id>` after a driver mismatch. */
const idInName = /(?:^|[-:])([0-9a-f]{64})(?:\.scope)?$/

export function containerIdOf(name: string): string | undefined {
  // conmon supervises a container of CRI-O from a cgroup of its own that carries the same id.
  return name.startsWith('crio-conmon-') ? undefined : idInName.exec(name)?.[1]
}

const lastPart = (path: CgroupPath): string => path.slice(path.lastIndexOf('/') + 1)

const idsOf = ({ sandboxId, containers }: PodInfo): string[] => [sandboxId, ...containers.map((c) => c.id)]

/** `pod<uid>`, or `kubepods-burstable-pod<uid with underscores>.slice`. */
const belongsTo = (name: string, uid: string): boolean =>
  uid !== '' && (name.includes(`pod${uid}`) || name.includes(`pod${uid.replaceAll('-', '_')}`))

/**
 * Runtimes make the cgroup of a container in every hierarchy, and what a container makes below its own is not looked for: a
 * walk of a hundred pods has a hundred directories to list and not thousands.
 */
const intoPods: WalkOptions = { inOneHierarchy: true, isLeaf: (name) => containerIdOf(name) !== undefined }
/** Elsewhere a node may live in a container itself. */
const intoAll: WalkOptions = { inOneHierarchy: true }

interface LocatorOptions {
  readonly cgroups: Pick<CgroupTree, 'walk' | 'exists' | 'forget'>
  /** Where pods are expected: `/kubepods`, `/kubepods.slice`. The whole tree is searched only after these. */
  readonly podRoots: readonly CgroupPath[]
}

export function createCgroupLocator({ cgroups, podRoots }: LocatorOptions): CgroupLocator {
  let known = new Map<string, CgroupPath>()
  /** Ids that a walk of the whole tree did not find: not searched for again until the list changes. */
  let notFound = new Set<string>()

  function walk(
    root: CgroupPath,
    how: WalkOptions,
    wanted: Set<string>,
    found: Map<string, CgroupPath>,
  ): void {
    for (const path of cgroups.walk(root, how)) {
      const name = lastPart(path)
      const id = containerIdOf(name) ?? name
      if (!wanted.has(id)) continue
      found.set(id, path)
      wanted.delete(id)
    }
  }

  /** The cgroups of pods around containers that are gone too; those of pods that still have one stay. */
  function forgetGone(before: ReadonlyMap<string, CgroupPath>, kept: ReadonlyMap<string, CgroupPath>): void {
    const gone = [...before].filter(([id]) => !kept.has(id)).map(([, path]) => path)
    if (gone.length === 0) return
    const around = new Set([...kept.values()].map(parentPath))
    const pods = new Set(gone.flatMap((path) => parentPath(path) ?? []).filter((path) => !around.has(path)))
    for (const path of [...gone, ...pods]) cgroups.forget(path)
  }

  return {
    refresh(inventory) {
      const ids = inventory.pods.flatMap(idsOf)
      const kept = new Map<string, CgroupPath>()
      const wanted = new Set<string>()
      for (const id of ids) {
        const path = known.get(id)
        if (path !== undefined) kept.set(id, path)
        else wanted.add(id)
      }
      forgetGone(known, kept)
      known = kept
      if (wanted.size === 0) return
      for (const root of podRoots)
        if (wanted.size > 0 && cgroups.exists(root)) walk(root, intoPods, wanted, known)
      if ([...wanted].some((id) => !notFound.has(id))) walk('/', intoAll, wanted, known)
      notFound = wanted
    },
    container: (id) => known.get(id),
    pod({ sandboxId, ref, containers }) {
      const sandbox = known.get(sandboxId)
      const any = sandbox ?? containers.map((c) => known.get(c.id)).find((path) => path !== undefined)
      const parent = any === undefined ? undefined : parentPath(any)
      return {
        sandbox,
        pod: parent !== undefined && belongsTo(lastPart(parent), ref.uid) ? parent : undefined,
      }
    },
  }
}

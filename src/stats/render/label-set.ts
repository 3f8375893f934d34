// The labels that all series of one container, pod or slice share, printed once and cached: label blocks are most of the
// bytes of a scrape, and they do not change while a container lives. Both sources build theirs here, so that a series keeps
// its identity when the source changes.
import type { CgroupPath } from '../../ports/cgroups.js'
import type { ExtraLabels } from '../catalogue/family.js'
import type { ContainerInfo, PodInfo } from '../runtime/inventory.js'

/** Never absent, empty where it does not apply: queries select on `image!=""`. */
interface CommonLabels {
  readonly container: string
  /** Cgroup path. */
  readonly id: string
  readonly image: string
  /** Container id of the runtime. */
  readonly name: string
  readonly namespace: string
  readonly pod: string
}

export const commonLabelKeys: readonly (keyof CommonLabels)[] = [
  'container',
  'id',
  'image',
  'name',
  'namespace',
  'pod',
]

type LabelKind = 'container' | 'pod' | 'node' | 'slice'

export interface LabelSet {
  readonly kind: LabelKind
  readonly values: CommonLabels
  /** `{container="app",...}` with the extra labels at their alphabetical place. */
  block(extra: ExtraLabels | undefined): string
}

const special = /[\\"\n]/

const escapeLabelValue = (value: string): string =>
  special.test(value) ? value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n') : value

export function formatLabels(pairs: readonly (readonly [string, string])[]): string {
  if (pairs.length === 0) return ''
  const sorted = pairs.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([name, value]) => `${name}="${escapeLabelValue(value)}"`).join(',')}}`
}

export function createLabelSet(kind: LabelKind, values: CommonLabels): LabelSet {
  const pairs = Object.entries(values)
  const plain = formatLabels(pairs)
  const blocks = new Map<string, string>()
  return {
    kind,
    values,
    block(extra) {
      if (extra === undefined) return plain
      const known = blocks.get(extra.key)
      if (known !== undefined) return known
      const block = formatLabels([...pairs, ...extra.pairs])
      blocks.set(extra.key, block)
      return block
    },
  }
}

/** A cache that outlives samples, so that label blocks are printed once for each container. */
export interface LabelSets {
  get(kind: LabelKind, key: string, values: () => CommonLabels): LabelSet
  /** Drops what was not used since the last call. */
  sweep(): void
}

export function createLabelSets(): LabelSets {
  let previous = new Map<string, LabelSet>()
  let used = new Map<string, LabelSet>()
  return {
    get(kind, key, values) {
      const full = `${kind} ${key}`
      const found = used.get(full) ?? previous.get(full) ?? createLabelSet(kind, values())
      used.set(full, found)
      return found
    },
    sweep() {
      previous = used
      used = new Map()
    },
  }
}

export const containerLabels = (
  labelSets: LabelSets,
  pod: PodInfo,
  container: ContainerInfo,
  path: string,
): LabelSet =>
  labelSets.get('container', container.id, () => ({
    container: container.name,
    id: path,
    image: container.image,
    name: container.id,
    namespace: pod.ref.namespace,
    pod: pod.ref.name,
  }))

/** `image` stays empty here: recording rules filter on it and would count the pod twice. */
export const podLabels = (labelSets: LabelSets, { sandboxId, ref }: PodInfo, path: string): LabelSet =>
  labelSets.get('pod', sandboxId, () => ({
    container: '',
    id: path,
    image: '',
    name: '',
    namespace: ref.namespace,
    pod: ref.name,
  }))

export const cgroupLabels = (labelSets: LabelSets, kind: 'node' | 'slice', path: CgroupPath): LabelSet =>
  labelSets.get(kind, path, () => ({ container: '', id: path, image: '', name: '', namespace: '', pod: '' }))

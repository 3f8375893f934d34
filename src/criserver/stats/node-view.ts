// One look at the node: what the runtime lists, and what the cgroups of it say. A view never changes once it is made.
import type { Container, PodSandbox } from '../../cri-api/api.js'
import type { CgroupSweep } from '../../stats/cgroup/source.js'
import type { ContainerFs } from '../../stats/filesystem/filesystem.js'
import type { ContainerSample, LayerUsage, PodSample } from '../../stats/sample.js'

export interface NodeView {
  readonly sandboxes: ReadonlyMap<string, PodSandbox>
  readonly containers: ReadonlyMap<string, Container>
  readonly sweep: CgroupSweep
  /** Undefined: not there, not running, or in a virtual machine that cgroups say nothing about. */
  pod(sandboxId: string): PodSample | undefined
  container(id: string): ContainerSample | undefined
  layer(id: string): LayerUsage | undefined
  containerFs(id: string): ContainerFs | undefined
  /** Pods whose values only the runtime has. */
  readonly hasOpaque: boolean
}

interface ViewInput extends Pick<NodeView, 'sandboxes' | 'containers' | 'sweep' | 'layer' | 'containerFs'> {}

export function createNodeView(o: ViewInput): NodeView {
  const opaque = new Set(o.sweep.opaque.map((p) => p.info.sandboxId))
  const pods = new Map(
    o.sweep.stats.pods.filter((p) => !opaque.has(p.info.sandboxId)).map((p) => [p.info.sandboxId, p]),
  )
  const containers = new Map([...pods.values()].flatMap((p) => p.containers.map((c) => [c.info.id, c])))
  return {
    ...o,
    pod: (id) => (o.sandboxes.has(id) ? pods.get(id) : undefined),
    container: (id) => (o.containers.has(id) ? containers.get(id) : undefined),
    hasOpaque: opaque.size > 0,
  }
}

/** An id as clients give it: whole, or a beginning that only one has. */
export function findById<T>(all: ReadonlyMap<string, T>, id: string): T | undefined {
  const exact = all.get(id)
  if (exact !== undefined || id === '') return exact
  const found = [...all].filter(([key]) => key.startsWith(id))
  return found.length === 1 ? found[0]?.[1] : undefined
}

export const hasLabels = (
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([key, value]) => labels[key] === value)

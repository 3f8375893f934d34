// What mounting volumes needs: ways to the machine and the API server, facts of the node, and where things are.
import type { PodSpec } from '../../core/pod/spec/spec.js'
import type { ResourceList } from '../../core/units/resource-list.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { PodHost } from '../../ports/pod-host.js'
import type { VolumeHost } from '../../ports/pods/volume-host.js'
import type { PodEvents } from '../events/pod-events.js'
import type { NodeObjects } from '../objects/node-objects.js'
import type { PodPaths } from '../pods/to-cri/names.js'

export interface VolumeContext {
  readonly host: PodHost
  readonly volumeHost: VolumeHost
  /** Undefined in standalone mode. */
  readonly objects: NodeObjects | undefined
  readonly paths: PodPaths
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Log
  /** Of the Node as the API server has it; empty in standalone mode. */
  readonly nodeLabels: () => Readonly<Record<string, string>>
  /** Of the node. */
  readonly allocatable: () => Promise<ResourceList>
  /** memory.max of the pod's cgroup; undefined: none. */
  readonly podMemoryLimit: (spec: PodSpec) => bigint | undefined
}

/** Where a mounted volume is; an image is mounted by the runtime. */
export type MountedVolume =
  | { readonly hostPath: string; readonly readOnly: boolean }
  | { readonly image: string; readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never' }

export interface MountRequest {
  readonly spec: PodSpec
  readonly c: VolumeContext
  readonly signal: AbortSignal
}

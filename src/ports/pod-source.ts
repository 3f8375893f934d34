// Where a companion learns which pods its node runs: the API server or the node's kubelet. Pods are API objects as they
// came; reading them is the core's business.

import type { PodTeller } from '../core/pod/origin.js'

export interface PodSource {
  /** The source decides how far a pod's own fields are trusted. */
  readonly teller: PodTeller
  /** Undefined until a whole list has been seen; the last good list while the source is unreachable. */
  current(): readonly unknown[] | undefined
  /** Follows the source until the signal is aborted; failures are retried. Called on each change. */
  follow(onChange: () => void, signal: AbortSignal): Promise<void>
  /** One whole list now. Errors: companion.source. */
  refresh(signal: AbortSignal): Promise<void>
}

/** The kubelet of this node over its HTTPS port. */
export interface KubeletApi {
  /** Items of /pods. */
  pods(signal: AbortSignal): Promise<readonly unknown[]>
  /** KubeletConfiguration below `kubeletconfig` of /configz. */
  configz(signal: AbortSignal): Promise<unknown>
}

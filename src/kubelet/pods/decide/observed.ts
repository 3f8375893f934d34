// What the container runtime knows of one pod, in our words. The runtime is the only memory of what ran and how it
// ended; everything that decisions need after a restart of the kubelet is in here.

export type ObservedState = 'created' | 'running' | 'exited' | 'unknown'

/** Why the kubelet itself ended a container that is to run again: a probe failed, or its definition changed. */
export type KilledFor = 'probe' | 'change'

export interface ObservedContainer {
  readonly id: string
  readonly name: string
  /** Also the number of restarts. */
  readonly attempt: number
  readonly sandboxId: string
  readonly state: ObservedState
  readonly kind: 'init' | 'sidecar' | 'app' | 'ephemeral'
  readonly createdAtNanos: bigint
  readonly startedAtNanos: bigint
  readonly finishedAtNanos: bigint
  readonly exitCode: number
  /** Known to the kubelet that did it, not to the runtime. */
  readonly killedFor?: KilledFor | undefined
  readonly reason: string
  readonly message: string
  readonly image: string
  readonly imageId: string
  readonly logPath: string
  /** Paths in the container below which nothing can be written; undefined: none. */
  readonly recursiveReadOnly?: readonly string[]
  /** Of its definition when it was created; empty: not noted. */
  readonly hash: string
  /** Who its first process runs as; undefined: the runtime does not tell. */
  readonly user: ObservedUser | undefined
  readonly resources: ObservedResources | undefined
}

interface ObservedUser {
  readonly uid: bigint
  readonly gid: bigint
  readonly supplementalGroups: readonly bigint[]
}

/** Undefined as a whole where the runtime does not report them. */
export interface ObservedResources {
  readonly cpuShares: bigint
  readonly cpuQuota: bigint
  readonly cpuPeriod: bigint
  readonly memoryLimit: bigint
  readonly unified: Readonly<Record<string, string>>
}

export interface ObservedSandbox {
  readonly id: string
  readonly attempt: number
  readonly ready: boolean
  readonly createdAtNanos: bigint
  readonly ips: readonly string[]
}

export interface ObservedPod {
  readonly uid: string
  readonly name: string
  readonly namespace: string
  /** Newest first. */
  readonly sandboxes: readonly ObservedSandbox[]
  /** Of all sandboxes, newest first. */
  readonly containers: readonly ObservedContainer[]
  /** As the pod's containers were labelled; for pods whose manifest has gone. */
  readonly graceSeconds: number | undefined
}

export const nothingObserved = (uid: string, name: string, namespace: string): ObservedPod => ({
  uid,
  name,
  namespace,
  sandboxes: [],
  containers: [],
  graceSeconds: undefined,
})

/** The newest of this name, in whatever sandbox. */
export const newestOf = (pod: ObservedPod, name: string): ObservedContainer | undefined =>
  pod.containers.find((container) => container.name === name)

/** The sandbox that containers are started in: the newest, when it is ready. */
export function currentSandbox(pod: ObservedPod): ObservedSandbox | undefined {
  const [newest] = pod.sandboxes
  return newest?.ready === true ? newest : undefined
}

/** containerd's, of a start whose caller has gone; it kills its shim when that is not up yet. */
const cutOffWords =
  /context canceled|context deadline exceeded|failed to start shim: start failed: .*signal: killed/

/**
 * The runtime gave up starting it because its caller was gone (a kubelet that was killed in the middle). It never
 * ran, so it is neither an end nor a restart.
 */
export const isStartCutOff = (container: ObservedContainer): boolean =>
  container.state === 'exited' &&
  container.startedAtNanos === 0n &&
  container.reason === 'StartError' &&
  cutOffWords.test(container.message)

export const isOver = (container: ObservedContainer): boolean => container.state === 'exited'
export const isAlive = (container: ObservedContainer): boolean =>
  container.state === 'running' || container.state === 'unknown'

/** Something of the pod runs. */
export const isUp = ({ sandboxes, containers }: ObservedPod): boolean =>
  sandboxes.some((s) => s.ready) || containers.some(isAlive)

/**
 * By attempt, then by age: both lists of an ObservedPod are in this order. A clock that was set back makes the newest
 * instance look older than the one before; its attempt number does not.
 */
export const newestFirst = (
  a: { readonly attempt: number; readonly createdAtNanos: bigint },
  b: { readonly attempt: number; readonly createdAtNanos: bigint },
): number =>
  a.attempt === b.attempt ? (a.createdAtNanos < b.createdAtNanos ? 1 : -1) : b.attempt - a.attempt

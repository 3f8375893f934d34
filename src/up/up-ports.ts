// What building a node needs from outside. The command puts processes and files in, tests put fakes in.
import type { PodJson } from '../core/pod/document.js'

/** A process of the node. */
export interface Part {
  /** Why it ended, with the end of its log; never before stop() unless something is wrong. */
  readonly ended: Promise<string>
  stop(): Promise<void>
}

export interface KubeletView {
  pods(): Promise<readonly PodJson[]>
  /** A link that logs a browser in once, where there is a page to see. */
  loginLink(): Promise<string | undefined>
}

export interface MemoryValues {
  readonly min: string
  readonly high: string
  readonly current: string
}

/** Of a whole pod, which outlives its containers; straight from the kernel's files. */
export interface PodValues {
  readonly pageCache: bigint
  /** `high` and `oom_kill` of memory.events. */
  readonly throttled: bigint
  readonly oomKills: bigint
}

export interface UpPorts {
  write(path: string, text: string): Promise<void>
  /** Empties a directory. */
  clear(directory: string): Promise<void>
  startCri(): Promise<Part>
  /** Resolves once it says that it is healthy. */
  startKubelet(configFile: string): Promise<Part>
  /** After the kubelet has started. */
  kubelet(): Promise<KubeletView>
  /** Of a container's cgroup. Undefined: gone. */
  memory(containerId: string): MemoryValues | undefined
  /** Of a pod's cgroup. Undefined: not there. */
  values(podUid: string): PodValues | undefined
  sleep(ms: number, signal: AbortSignal): Promise<void>
  nowMs(): number
}

// A plan: everything one command would do, as plain data. Phases add parts to it, the executor carries it out,
// a dry run prints it. Nothing in here touches anything.
import type { SocketChoice } from './node-socket.js'
import { criSocketAnnotation, instanceConfigPath, kubeletConfigPath, kubeletFlagsPath } from './paths.js'
import { uniqueWarnings, type Warning } from './warnings.js'

export interface FileWrite {
  readonly path: string
  /** Undefined: the file shall not exist. */
  readonly text: string | undefined
}

export type ClusterChange =
  | {
      readonly kind: 'annotate'
      readonly node: string
      readonly key: string
      readonly value: string | undefined
    }
  | { readonly kind: 'config-map'; readonly name: string; readonly data: Readonly<Record<string, string>> }

/** What one phase wants. */
export interface PlanPart {
  readonly writes?: readonly FileWrite[]
  readonly backUp?: readonly string[]
  readonly emptyDirectories?: readonly string[]
  readonly removeFiles?: readonly string[]
  readonly cluster?: readonly ClusterChange[]
  readonly removePods?: boolean
  /** Stopped before and started after the change, as kubeadm does. */
  readonly kubelet?: 'stop' | 'restart'
  readonly warnings?: readonly Warning[]
  readonly notices?: readonly string[]
}

export interface Plan {
  readonly command: string
  readonly socket: SocketChoice | undefined
  readonly writes: readonly FileWrite[]
  readonly backUp: readonly string[]
  readonly emptyDirectories: readonly string[]
  readonly removeFiles: readonly string[]
  readonly cluster: readonly ClusterChange[]
  readonly removePods: boolean
  readonly kubelet: 'stop' | 'restart' | undefined
  readonly warnings: readonly Warning[]
  readonly notices: readonly string[]
}

export function joinParts(
  command: string,
  socket: SocketChoice | undefined,
  parts: readonly PlanPart[],
): Plan {
  return {
    command,
    socket,
    writes: orderWrites(parts.flatMap((p) => p.writes ?? [])),
    backUp: [...new Set(parts.flatMap((p) => p.backUp ?? []))],
    emptyDirectories: [...new Set(parts.flatMap((p) => p.emptyDirectories ?? []))],
    removeFiles: [...new Set(parts.flatMap((p) => p.removeFiles ?? []))],
    cluster: uniqueChanges(parts.flatMap((p) => p.cluster ?? [])),
    removePods: parts.some((p) => p.removePods),
    kubelet: parts.find((p) => p.kubelet !== undefined)?.kubelet,
    warnings: uniqueWarnings(parts.flatMap((p) => p.warnings ?? [])),
    notices: [...new Set(parts.flatMap((p) => p.notices ?? []))],
  }
}

/**
 * After each rename the kubelet must still find a socket. Moving to the instance file: the flag goes last, when
 * config.yaml already has the endpoint. Moving back to the flag: the flag comes before config.yaml loses it.
 */
export function orderWrites(writes: readonly FileWrite[]): FileWrite[] {
  const flags = writes.find((w) => w.path === kubeletFlagsPath)
  const flagCarriesEndpoint = flags?.text?.includes('--container-runtime-endpoint') ?? false
  const order = flagCarriesEndpoint
    ? [instanceConfigPath, kubeletFlagsPath, kubeletConfigPath]
    : [instanceConfigPath, kubeletConfigPath, kubeletFlagsPath]
  const rank = (w: FileWrite): number => (order.includes(w.path) ? order.indexOf(w.path) : order.length)
  return [...writes].sort((a, b) => rank(a) - rank(b))
}

const sameTarget = (a: ClusterChange, b: ClusterChange): boolean =>
  a.kind === 'annotate'
    ? b.kind === 'annotate' && a.key === b.key
    : b.kind === 'config-map' && a.name === b.name

const uniqueChanges = (list: readonly ClusterChange[]): ClusterChange[] =>
  list.filter((c, i) => list.findIndex((o) => sameTarget(o, c)) === i)

export const annotate = (node: string, value: string | undefined): ClusterChange => ({
  kind: 'annotate',
  node,
  key: criSocketAnnotation,
  value,
})

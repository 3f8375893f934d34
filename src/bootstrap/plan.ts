// A plan: everything one command would do, as plain data. Phases add parts to it, the executor carries it out,
// a dry run prints it. Nothing in here touches anything.
import type { FileOwner } from '../ports/bootstrap.js'
import type { SocketChoice } from './node-socket.js'
import { criSocketAnnotation, instanceConfigPath, kubeletConfigPath, kubeletFlagsPath } from './paths.js'
import { uniqueWarnings, type Warning } from './warnings.js'

export interface FileWrite {
  readonly path: string
  /** Undefined: the file shall not exist. */
  readonly text: string | undefined
  /** A symbolic link; the text is where it leads. */
  readonly link?: true
  /** For a file that is not there now; one that is keeps its own. */
  readonly mode?: number
  readonly owner?: FileOwner
  /** What the plan took to be there: if it is another text by now, the plan does not hold. */
  readonly basedOn?: string | null
}

/** A service in front of the runtime that comes or goes with the change. */
export interface ServerChange {
  readonly unit: string
  readonly put: boolean
  /** Its files: written before it is started; it is started before clients are switched to it. */
  readonly paths: readonly string[]
  readonly endpoint: string
  /** Another unit of this name was running before; it is started again when it is restored. */
  readonly wasActive: boolean
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
  readonly server?: ServerChange
  readonly removeDirectories?: readonly string[]
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
  readonly server: ServerChange | undefined
  readonly removeDirectories: readonly string[]
  readonly warnings: readonly Warning[]
  readonly notices: readonly string[]
}

export function joinParts(
  command: string,
  socket: SocketChoice | undefined,
  parts: readonly PlanPart[],
): Plan {
  const server = parts.find((p) => p.server !== undefined)?.server
  return {
    command,
    socket,
    writes: orderWrites(
      parts.flatMap((p) => p.writes ?? []),
      server?.put === true ? server.paths : [],
    ),
    backUp: [...new Set(parts.flatMap((p) => p.backUp ?? []))],
    emptyDirectories: [...new Set(parts.flatMap((p) => p.emptyDirectories ?? []))],
    removeFiles: [...new Set(parts.flatMap((p) => p.removeFiles ?? []))],
    cluster: uniqueChanges(parts.flatMap((p) => p.cluster ?? [])),
    removePods: parts.some((p) => p.removePods),
    kubelet: parts.find((p) => p.kubelet !== undefined)?.kubelet,
    server,
    removeDirectories: [...new Set(parts.flatMap((p) => p.removeDirectories ?? []))],
    warnings: uniqueWarnings(parts.flatMap((p) => p.warnings ?? [])),
    notices: [...new Set(parts.flatMap((p) => p.notices ?? []))],
  }
}

/**
 * After each rename the kubelet must still find a socket. Moving to the instance file: the flag goes last, when
 * config.yaml already has the endpoint. Moving back to the flag: the flag comes before config.yaml loses it. What
 * listens at the new socket comes first of all.
 */
function orderWrites(writes: readonly FileWrite[], first: readonly string[] = []): FileWrite[] {
  const flags = writes.find((w) => w.path === kubeletFlagsPath)
  const flagCarriesEndpoint = flags?.text?.includes('--container-runtime-endpoint') ?? false
  const order = flagCarriesEndpoint
    ? [...first, instanceConfigPath, kubeletFlagsPath, kubeletConfigPath]
    : [...first, instanceConfigPath, kubeletConfigPath, kubeletFlagsPath]
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

// The Lease of the node: its sign of life. The controller manager compares times of renewal with each other, so they only
// go forward, also when the clock of the node is set back.
import type { Lease } from '../../../core/kube/objects.js'
import { parseTime } from '../../../core/units/rfc3339.js'

export const leaseNamespace = 'kube-node-lease'

interface LeaseInput {
  readonly nodeName: string
  readonly durationSeconds: number
  readonly nowNanos: bigint
  /** Undefined: not known yet; the Lease then has no owner. */
  readonly nodeUid: string | undefined
  /** Undefined: there is none. */
  readonly base: Lease | undefined
}

export function renewedLease({ nodeName, durationSeconds, nowNanos, nodeUid, base }: LeaseInput): Lease {
  const before = parseTime(base?.spec?.renewTime ?? '')
  const renewed = before !== undefined && before >= nowNanos ? before + 1_000n : nowNanos
  const owner =
    nodeUid === undefined ? undefined : { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: nodeUid }
  const owners = base?.metadata?.ownerReferences ?? []
  // Another uid is that of a Node that was deleted: its Lease would be collected with it.
  const isOwned = owners.some((o) => o.kind === 'Node' && o.uid === nodeUid)
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      ...base?.metadata,
      name: nodeName,
      namespace: leaseNamespace,
      ...(owner === undefined ? {} : { ownerReferences: isOwned ? owners : [owner] }),
    },
    spec: {
      ...base?.spec,
      holderIdentity: nodeName,
      leaseDurationSeconds: durationSeconds,
      renewTime: formatMicroTime(renewed),
    },
  }
}

/** `2026-11-15T08:39:38.000001Z` */
function formatMicroTime(nanos: bigint): string {
  const seconds = new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 19)
  return `${seconds}.${((nanos % 1_000_000_000n) / 1_000n).toString().padStart(6, '0')}Z`
}

// Sends the status of the Node: computed at nodeStatusUpdateFrequency, sent when it changed or when a report is due.
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import type { KubeNode } from '../../core/kube/objects.js'
import { nodes, objectPath } from '../../core/kube/path.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import type { ApiContact } from './api-contact.js'
import { hasNodeChanged, nodeStatusPatch } from './decide/node-patch.js'
import { decideNodeStatus, type NodeFactsNow, type StatusDecision } from './decide/node-status.js'
import { decideReport, neverReported, type ReportState } from './decide/report-due.js'
import type { OwnNode } from './own-node.js'

interface StatusReporterOptions {
  readonly api: KubeApi
  readonly clock: Pick<Clock, 'monotonicNanos'>
  readonly log: Log
  readonly contact: ApiContact
  readonly own: OwnNode
  readonly nodeName: string
  readonly reportFrequencyMs: number
  readonly timeoutMs: number
  readonly random: () => number
  readonly gather: (signal: AbortSignal) => Promise<NodeFactsNow>
  /** Before the status is computed: what the Node's spec asks of this machine. */
  readonly onNode: (node: KubeNode) => Promise<void>
  readonly onSent: (decision: StatusDecision) => void
}

export type RoundResult = 'done' | 'no-node' | 'failed'

const tries = 5

interface StatusReporter {
  /** One round of up to five tries. */
  report(signal: AbortSignal): Promise<RoundResult>
}

export function createStatusReporter(o: StatusReporterOptions): StatusReporter {
  const { api, contact, log, own } = o
  const path = objectPath(nodes, { name: o.nodeName })
  const statusPath = objectPath(nodes, { name: o.nodeName, subresource: 'status' })
  let state: ReportState = neverReported
  let said: string | undefined
  let outagesSeen = 0

  const attempt = async (tried: number, signal: AbortSignal): Promise<RoundResult> => {
    const options = { signal, timeoutMs: o.timeoutMs, retry: 'never' } as const
    // After an outage the controllers may have written what the watch has not told yet.
    const mayUseKnown = tried === 1 && contact.outages() === outagesSeen
    const node = (mayUseKnown ? own.current() : undefined) ?? (await api.get<KubeNode>(path, options))
    outagesSeen = contact.outages()
    if (node === undefined) return 'no-node'
    await o.onNode(node)
    const decision = decideNodeStatus(node, await o.gather(signal))
    if (decision.problem !== said && decision.problem !== undefined)
      log.warn('a part of the node status is not known', { problem: decision.problem })
    said = decision.problem
    const next = decideReport({
      state,
      nowMs: Number(o.clock.monotonicNanos() / 1_000_000n),
      changed: hasNodeChanged(node, decision.node),
      reportFrequencyMs: o.reportFrequencyMs,
      random: o.random(),
    })
    if (next === undefined) return 'done'
    const patch = nodeStatusPatch(node, decision.node)
    if (patch !== undefined) own.heard(await api.patch<KubeNode>(statusPath, 'strategic', patch, options))
    state = next
    o.onSent(decision)
    contact.succeeded()
    return 'done'
  }
  return {
    async report(signal) {
      let last: unknown = keelsonError('kubeapi.failed', 'report the status of the node: not tried')
      for (let tried = 1; tried <= tries && !signal.aborted; tried++) {
        try {
          return await attempt(tried, signal)
        } catch (e) {
          if (signal.aborted) return 'failed'
          if (!isKeelsonError(e)) throw e
          last = e
          if (tried > 1) api.closeConnections()
        }
      }
      if (!signal.aborted) contact.failed(last)
      return 'failed'
    },
  }
}

// This machine as a node of a cluster: registers, reports its status, renews its Lease, follows its own Node. Nothing here
// touches a pod: without the API server everything else goes on.
import { asKeelsonError } from '../../core/errors.js'
import type { KubeNode } from '../../core/kube/objects.js'
import { pause } from '../../core/units/retry.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { CriClient } from '../../ports/runtime.js'
import type { EventQueue } from '../events/event-queue.js'
import type { ApiContact } from './api-contact.js'
import { parseNodeLabels } from './decide/node-labels.js'
import type { StatusDecision } from './decide/node-status.js'
import { readyProblems } from './decide/ready-problems.js'
import { createStatusGatherer, type GatherStatusInput } from './gather-status.js'
import { createMembershipMetrics } from './membership-metrics.js'
import type { OwnNode } from './own-node.js'
import { registerNode } from './register.js'
import { renewLease } from './renew-lease.js'
import { createStatusReporter, type RoundResult } from './report-status.js'
import { createRuntimeState } from './runtime-state.js'

interface MembershipInput extends Omit<GatherStatusInput, 'runtimeState'> {
  readonly api: KubeApi
  readonly own: OwnNode
  readonly contact: ApiContact
  readonly events: EventQueue
  readonly runtime: CriClient
  /** Undefined where there are no cgroups. */
  readonly cgroupVersion: 1 | 2 | undefined
  readonly random?: () => number
  readonly signal: AbortSignal
}

interface Membership {
  /** The next status is found and sent now. */
  reportNow(): void
  /** Resolves when the signal is aborted; rejects when a loop died of a bug. */
  readonly done: Promise<void>
}

const runtimeLookMs = 5_000
/** Until Ready can be said for the first time, the runtime is asked this often, for this long. */
const quickLookMs = 100
const maxQuickLooks = 1_200
const jitter = 0.04

export function startMembership(i: MembershipInput): Membership {
  const { api, config, contact, events, nodeName, own, ports, signal, random = Math.random } = i
  const { clock, log } = ports
  const { kubelet, process } = config
  const labels = parseNodeLabels(process['node-labels'] ?? '')
  const counted = createMembershipMetrics(ports.metrics, clock, nodeName, contact)
  const runtimeState = createRuntimeState(i.runtime, clock, log)
  const gather = createStatusGatherer({ ...i, runtimeState })
  const leaseMs = kubelet.nodeLeaseDurationSeconds * 1000
  const timeoutMs = Math.min(kubelet.nodeStatusUpdateFrequency, leaseMs)
  const handPodCidr = createPodCidrWriter(i)
  let saidReboot = false

  const sayStatus = ({ events: reasons, rebootedFrom, node }: StatusDecision): void => {
    if (node.status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True')) counted.ready()
    for (const reason of reasons)
      events.record({ type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` })
    if (rebootedFrom === undefined || saidReboot) return
    saidReboot = true
    const bootId = node.status?.nodeInfo?.bootID ?? ''
    events.record({
      type: 'Warning',
      reason: 'Rebooted',
      message: `Node ${nodeName} has been rebooted, boot id: ${bootId}`,
    })
  }
  const reporter = createStatusReporter({
    api,
    clock,
    log,
    contact,
    own,
    nodeName,
    reportFrequencyMs: kubelet.nodeStatusReportFrequency,
    timeoutMs,
    random,
    gather,
    onNode: handPodCidr,
    onSent: sayStatus,
  })

  const register = async (): Promise<void> => {
    if (!kubelet.registerNode) return
    counted.registering()
    const settings = {
      name: nodeName,
      os: ports.host.os,
      arch: ports.nodeHost.architecture,
      labels,
      taints: kubelet.registerWithTaints ?? [],
      providerId: kubelet.providerID,
      isCloudExternal: process['cloud-provider'] === 'external',
      controllerAttachDetach: kubelet.enableControllerAttachDetach,
    }
    const registered = await registerNode({ api, clock, log, settings, gather, signal })
    if (registered === undefined) return
    own.heard(registered.node)
    contact.succeeded()
    if (registered.created === undefined) return
    counted.registered()
    sayStatus(registered.created)
  }
  /** A Node that was deleted is registered again: its pods run on, and a cluster that does not know them cannot manage them. */
  const afterRound = async (result: RoundResult): Promise<void> => {
    if (result !== 'no-node') return
    log.warn('the Node object does not exist', { node: nodeName, registerNode: kubelet.registerNode })
    await register()
  }
  let urgent = new AbortController()
  let quickLooks = maxQuickLooks
  /** One period; at the start it ends as soon as the runtime is ready, so that Ready is not said a period late. */
  const waitForNext = async (): Promise<void> => {
    let left = kubelet.nodeStatusUpdateFrequency * (1 + random() * jitter)
    for (; quickLooks > 0 && left > quickLookMs && !signal.aborted; quickLooks--, left -= quickLookMs) {
      const runtime = runtimeState.seen()
      if (readyProblems({ runtime, unhealthy: [], capacity: enough }).length === 0) {
        quickLooks = 0
        return
      }
      await pause(clock, quickLookMs, signal)
      await runtimeState.look(signal)
    }
    await pause(clock, left, signal, urgent.signal)
    urgent = new AbortController()
  }
  const statusLoop = async (): Promise<void> => {
    await runtimeState.look(signal)
    await register()
    while (!signal.aborted) {
      await afterRound(await reporter.report(signal))
      await waitForNext()
    }
  }
  const runtimeLoop = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(clock, runtimeLookMs, signal)
      if (!signal.aborted) await runtimeState.look(signal)
    }
  }
  const stopTelling = own.onChange(createSchedulableTeller(events, nodeName))
  events.record({ type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' })
  if (i.cgroupVersion === 1) events.record({ type: 'Warning', reason: 'CgroupV1', message: cgroupV1 })
  const lease = renewLease({
    api,
    clock,
    contact,
    nodeName,
    nodeUid: () => own.current()?.metadata?.uid,
    durationSeconds: kubelet.nodeLeaseDurationSeconds,
    timeoutMs,
    random,
    signal,
  })
  const done = Promise.all([own.follow(signal), statusLoop(), runtimeLoop(), lease]).then(() => stopTelling())
  return { done, reportNow: () => urgent.abort() }
}

/** Upstream's words: people search for them. */
const cgroupV1 =
  'cgroup v1 detected. cgroup v1 support is deprecated and will be removed in a future release. Please migrate to cgroup v2. More information at https://git.k8s.io/enhancements/keps/sig-node/5573-remove-cgroup-v1'

/** Readiness of the runtime alone. */
const enough = { cpu: '1', memory: '1', pods: '1', 'ephemeral-storage': '1' }

/** The addresses of pods that the cluster gave this node, for runtimes that make their network configuration of it. */
function createPodCidrWriter({
  runtime,
  ports,
  signal,
  config,
}: MembershipInput): (node: KubeNode) => Promise<void> {
  let written = ''
  return async ({ spec }) => {
    const podCidr = (spec?.podCIDRs ?? []).join(',')
    if (podCidr === '' || podCidr === written) return
    try {
      const timeoutMs = Math.min(config.kubelet.runtimeRequestTimeout, 10_000)
      await runtime.runtime.updateRuntimeConfig(
        { runtimeConfig: { networkConfig: { podCidr } } },
        { timeoutMs, signal },
      )
      ports.log.info('the runtime has the addresses of pods', { podCidr })
      written = podCidr
    } catch (e) {
      const error = asKeelsonError(e)
      if (error.code === 'internal.unexpected') throw e
      ports.log.warn('the runtime did not take the addresses of pods; retrying', { podCidr, error })
    }
  }
}

function createSchedulableTeller(events: EventQueue, nodeName: string) {
  let was = false
  return (node: KubeNode | undefined): void => {
    const is = node?.spec?.unschedulable ?? false
    if (node === undefined || is === was) return
    was = is
    const reason = is ? 'NodeNotSchedulable' : 'NodeSchedulable'
    events.record({ type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` })
  }
}

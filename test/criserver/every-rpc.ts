// One request for each RPC of CRI v1 against a node with one running pod, and what to expect of the server: the same bytes
// as directly, or an answer of ours.
import type { MethodName, PartialRequestTo } from '../../src/fakes/cri/answers.js'

export interface PodIds {
  readonly sandboxId: string
  readonly containerId: string
  readonly image: string
}

export type Expectation =
  | 'same'
  /** The runtime puts something new into each answer; it is masked in the body, or in the status, before the comparison. */
  | { readonly mask: RegExp; readonly in?: 'status' }
  /** `endless`: a stream, of which the first second is enough. */
  | { readonly ours: string; readonly endless?: true }

export type Row = {
  [N in MethodName]: {
    readonly rpc: N
    readonly request: (ids: PodIds) => PartialRequestTo<N>
    readonly expect: Expectation
    /** What the row is about, where a RPC has several. */
    readonly note?: string
  }
}[MethodName]

const row = <N extends MethodName>(
  rpc: N,
  expect: Expectation,
  request: (ids: PodIds) => PartialRequestTo<N>,
  note?: string,
): Row => ({ rpc, expect, request, ...(note === undefined ? {} : { note }) }) as unknown as Row

const nowhere = 'f'.repeat(64)
const token = { mask: /(exec|attach|portforward)\/[A-Za-z0-9_-]{8}/g }
const execId: Expectation = { mask: /[0-9a-f]{64}/g, in: 'status' }
const values = { ours: 'values are completed from the cgroups' }
const streamed = { ours: 'streamed from the unary list' }

/** Calls that would change the node name things that are not there: the runtime's refusal must come back as it is. */
export const everyRpc: readonly Row[] = [
  row('Version', 'same', () => ({ version: 'v1' })),
  row('Status', 'same', () => ({})),
  row('Status', { ours: 'one more entry in the verbose info' }, () => ({ verbose: true }), 'verbose'),
  row('RuntimeConfig', { ours: 'the cgroup driver of a runtime that does not tell it' }, () => ({})),
  row('UpdateRuntimeConfig', 'same', () => ({ runtimeConfig: { networkConfig: { podCidr: '' } } })),
  row('RunPodSandbox', 'same', () => ({}), 'without a configuration'),
  row('StopPodSandbox', 'same', () => ({ podSandboxId: nowhere })),
  row('RemovePodSandbox', 'same', () => ({ podSandboxId: nowhere })),
  row('PodSandboxStatus', 'same', ({ sandboxId }) => ({ podSandboxId: sandboxId })),
  row('PodSandboxStatus', 'same', ({ sandboxId }) => ({ podSandboxId: sandboxId, verbose: true }), 'verbose'),
  row('PodSandboxStatus', 'same', () => ({ podSandboxId: nowhere }), 'not found'),
  row('ListPodSandbox', 'same', () => ({})),
  row('ListPodSandbox', 'same', ({ sandboxId }) => ({ filter: { id: sandboxId } }), 'filtered'),
  row('StreamPodSandboxes', streamed, () => ({})),
  row('UpdatePodSandboxResources', { ours: "the pod's cgroup is written" }, ({ sandboxId }) => ({
    podSandboxId: sandboxId,
  })),
  row('CheckpointPod', 'same', () => ({})),
  row('RestorePod', 'same', () => ({})),
  row('CreateContainer', 'same', () => ({ podSandboxId: nowhere, config: { metadata: { name: 'x' } } })),
  row('StartContainer', 'same', () => ({ containerId: nowhere })),
  row('StartContainer', 'same', ({ containerId }) => ({ containerId }), 'already running'),
  row('StopContainer', 'same', () => ({ containerId: nowhere })),
  row('RemoveContainer', 'same', () => ({ containerId: nowhere })),
  row('ListContainers', 'same', () => ({})),
  row('ListContainers', 'same', ({ sandboxId }) => ({ filter: { podSandboxId: sandboxId } }), 'filtered'),
  row('StreamContainers', streamed, () => ({})),
  row('ContainerStatus', 'same', ({ containerId }) => ({ containerId })),
  row('ContainerStatus', 'same', ({ containerId }) => ({ containerId, verbose: true }), 'verbose'),
  row('ContainerStatus', 'same', () => ({ containerId: nowhere }), 'not found'),
  row('UpdateContainerResources', 'same', ({ containerId }) => ({ containerId, linux: { cpuShares: 300n } })),
  row('UpdateContainerResources', 'same', () => ({ containerId: nowhere, linux: {} }), 'not found'),
  row('ReopenContainerLog', 'same', ({ containerId }) => ({ containerId })),
  row('CheckpointContainer', 'same', () => ({ containerId: nowhere })),
  row('GetContainerEvents', { ours: 'events are made from the lists', endless: true }, () => ({})),
  row('ExecSync', 'same', ({ containerId }) => ({ containerId, cmd: ['/bin/echo', 'hello'], timeout: 20n })),
  row(
    'ExecSync',
    execId,
    ({ containerId }) => ({ containerId, cmd: ['/nonexistent'], timeout: 20n }),
    'no such file',
  ),
  row(
    'ExecSync',
    'same',
    ({ containerId }) => ({
      containerId,
      cmd: ['/bin/dd', 'if=/dev/zero', 'bs=1M', 'count=8', 'status=none'],
      timeout: 60n,
    }),
    '8 MiB of output',
  ),
  row('Exec', token, ({ containerId }) => ({ containerId, cmd: ['/bin/true'], stdout: true })),
  row('Attach', token, ({ containerId }) => ({ containerId, stdout: true })),
  row('PortForward', token, ({ sandboxId }) => ({ podSandboxId: sandboxId, port: [8080] })),
  row('ContainerStats', values, ({ containerId }) => ({ containerId })),
  row('ListContainerStats', values, () => ({})),
  row('StreamContainerStats', streamed, () => ({})),
  row('PodSandboxStats', values, ({ sandboxId }) => ({ podSandboxId: sandboxId })),
  row('ListPodSandboxStats', values, () => ({})),
  row('StreamPodSandboxStats', streamed, () => ({})),
  row('ListMetricDescriptors', { ours: 'answered from the cgroups' }, () => ({})),
  row('ListPodSandboxMetrics', { ours: 'answered from the cgroups' }, () => ({})),
  row('StreamPodSandboxMetrics', streamed, () => ({})),
  row('ListImages', 'same', () => ({})),
  row('StreamImages', streamed, () => ({})),
  row('ImageStatus', 'same', ({ image }) => ({ image: { image } })),
  row('ImageStatus', 'same', () => ({ image: { image: 'no.such/image:1' } }), 'not there'),
  row('PullImage', 'same', () => ({ image: { image: 'not a name' } }), 'malformed name'),
  row('RemoveImage', 'same', () => ({ image: { image: 'no.such/image:1' } })),
  row('ImageFsInfo', { mask: /[\s\S]*/g }, () => ({}), 'a timestamp in each answer'),
]

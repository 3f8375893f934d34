// Puts the pod runner together for `keelson kubelet`: from the configuration and the facts of the node to a running
// runner with its health checks, and what its endpoints ask of it.
import type { EffectiveConfig } from '../../config/effective.js'
import type { LoadedConfig } from '../../config/load.js'
import type { KubeNode } from '../../core/kube/objects.js'
import { nodes, objectPath } from '../../core/kube/path.js'
import { quantityValue } from '../../core/units/quantity.js'
import type { ReadLog } from '../../serve/endpoints/container-logs.js'
import type { PodEventJson } from '../../serve/endpoints/pod-events.js'
import type { RunCommand } from '../../serve/endpoints/run.js'
import type { OpenStream } from '../../serve/endpoints/streams.js'
import { createAdmission } from '../admission/admit-pods.js'
import { preemptPods } from '../admission/preempt.js'
import { createPodEvents, type PodEvents } from '../events/pod-events.js'
import { removeDeadContainers } from '../gc/dead-containers.js'
import { prunePullRecords } from '../images/pull-records.js'
import { defaultLabels } from '../node/decide/node-labels.js'
import { runCommand } from '../streams/exec.js'
import { createOpenStream } from '../streams/open-stream.js'
import { readContainerLog } from '../streams/read-log.js'
import type { PodContext } from './context.js'
import { createContext, type PodsInput } from './create-context.js'
import type { AdmissionHandler } from './decide/wanted-pod.js'
import { MirrorPods } from './mirror/mirror-pods.js'
import { createNodeCgroups } from './run/node-cgroups.js'
import { removeLogLinks } from './run/prepare.js'
import { rotateLogs } from './run/rotate-logs.js'
import { type PodRunner, startPodRunner } from './run/runner.js'
import { adoptStaticPods } from './source/adopt-static-pods.js'
import { ApiSource } from './source/api-source.js'
import { mergeSources } from './source/merge-sources.js'
import { type StaticPods, watchStaticPods } from './source/static-source.js'
import { StatusReporter } from './status/report-statuses.js'

export interface RunningPods extends PodRunner {
  readonly readLog: ReadLog
  readonly runCommand: RunCommand
  readonly openStream: OpenStream
  /** Undefined: there is no such pod. */
  events(namespace: string, pod: string): readonly PodEventJson[] | undefined
  /** For parts of the kubelet that end pods. */
  readonly recordEvent: PodEvents['pod']
  removeLogLinks(): Promise<void>
  /** Of pods that have ended for good. */
  removeDeadContainers(signal: AbortSignal): Promise<number>
}

/** Pods come from a directory, from an API server, or from both. */
export const runsPods = ({ config }: Pick<LoadedConfig, 'config'>): boolean =>
  (config.kubelet.staticPodPath ?? '') !== '' || config.process.kubeconfig !== undefined

/** podsPerCore lowers maxPods and never raises it. */
export const podLimit = (
  { maxPods, podsPerCore }: Pick<EffectiveConfig['kubelet'], 'maxPods' | 'podsPerCore'>,
  cpus: number,
): number => (podsPerCore === 0 ? maxPods : Math.min(maxPods, podsPerCore * cpus))

/** Undefined without any source: then no pod of this runtime is ours to start or to end. */
export function startPods(i: PodsInput): RunningPods | undefined {
  const { config, ports, cluster, signal } = i
  const { kubelet } = config
  const path = kubelet.staticPodPath ?? ''
  if (path === '' && cluster === undefined) {
    ports.log.info('neither staticPodPath nor --kubeconfig is set: no pods are run')
    return undefined
  }
  const events = createPodEvents({ ...ports, queue: i.events })
  const context = createContext(i, events)
  const { clock, log } = ports
  const apiPods =
    cluster === undefined
      ? undefined
      : new ApiSource({
          api: cluster.api,
          clock,
          nodeName: i.nodeName,
          onMirror: (uid) => {
            mirrors?.notify()
            statuses?.notify(uid)
          },
        })
  const mirrors =
    cluster === undefined || apiPods === undefined
      ? undefined
      : new MirrorPods({
          api: cluster.api,
          node: () => cluster.own.current(),
          statics: () => runner.statics(),
          mirrors: () => apiPods.mirrors(),
          complete: () => runner.complete(),
          document: (uid) => runner.document(uid),
          clock,
          log,
        })
  const statuses =
    cluster === undefined || apiPods === undefined
      ? undefined
      : new StatusReporter({
          api: cluster.api,
          known: apiPods,
          report: (uid) => runner.report(mirrors?.staticUid(uid) ?? uid),
          clock,
          log,
        })
  const runner = startPodRunner({
    context,
    wanted: mergeSources(
      { files: path === '' ? undefined : staticPods(path, i, context), api: apiPods?.watch(signal) },
      signal,
    ),
    admission: [...(i.admissionHandlers ?? []), admissionRules(i, context, () => runner)],
    syncMs: kubelet.syncFrequency,
    nodeCgroups: i.memoryQos?.nodeCgroups ?? createNodeCgroups(i.cgroups, context.planner),
    onChange: () => i.memoryQos?.memoryQos.notify(),
    onPods: () => mirrors?.notify(),
    onStatus: (uid) => statuses?.notify(mirrors?.mirrorUid(uid) ?? uid),
    signal,
  })
  const rotation = rotateLogs({
    context,
    policy: { maxSize: quantityValue(kubelet.containerLogMaxSize), maxFiles: kubelet.containerLogMaxFiles },
    workers: kubelet.containerLogMaxWorkers,
    intervalMs: kubelet.containerLogMonitorInterval,
    signal,
  })
  return {
    ...runner,
    done: Promise.all([
      runner.done,
      rotation,
      prunePullRecords(context, signal),
      context.volumes.done,
      apiPods?.follow(signal),
      statuses?.run(signal),
      mirrors?.run(signal),
    ]).then(() => undefined),
    readLog: (request, stop) => readContainerLog(request, runner, context, stop),
    openStream: createOpenStream(runner, context),
    events: (namespace, name) => {
      const found = runner
        .pods()
        .find((pod) => pod.metadata.namespace === namespace && pod.metadata.name === name)
      return found && events.recent(found.metadata.uid)
    },
    recordEvent: (pod, event) => events.pod(pod, event),
    runCommand: (request, stop) => runCommand(request, runner, context, stop),
    removeLogLinks: () => removeLogLinks(context),
    removeDeadContainers: (ending) => removeDeadContainers(runner.finished(), context, ending),
  }
}

const admissionRules = (
  { config, cluster, nodeName, ports, signal }: PodsInput,
  context: PodContext,
  runner: () => PodRunner,
): AdmissionHandler => {
  const { os } = ports.host
  const { api, own } = cluster ?? {}
  return createAdmission({
    ownLabels: { name: nodeName, labels: defaultLabels(nodeName, os, ports.nodeHost.architecture) },
    os,
    allowedUnsafeSysctls: config.kubelet.allowedUnsafeSysctls ?? [],
    files: ports.files,
    allocatable: context.allocatable,
    supplementalGroupsPolicy: async () =>
      (await context.runtime.status({}, { timeoutMs: context.timeoutMs, signal })).features
        ?.supplementalGroupsPolicy ?? false,
    node: () => own?.current(),
    fetchNode:
      api === undefined
        ? undefined
        : (stop) => api.get<KubeNode>(objectPath(nodes, { name: nodeName }), { signal: stop }),
    preempt: (pods) => preemptPods(pods, runner(), context),
    log: ports.log,
    metrics: ports.metrics,
  })
}

const staticPods = (
  path: string,
  { config, ports, node, nodeName, signal }: PodsInput,
  context: PodContext,
): AsyncIterable<StaticPods> => {
  const files = watchStaticPods({
    path,
    nodeName,
    rescanMs: config.kubelet.fileCheckFrequency,
    resize: config.keelson.staticPodResize,
    maxPods: podLimit(config.kubelet, node.capacity.cpus),
    digest: ports.podHost.digest,
    files: ports.files,
    clock: ports.clock,
    log: ports.log,
    signal,
  })
  return adoptStaticPods(files, context)
}

// Fields of KubeletConfiguration v1beta1 that upstream knows and this kubelet does not read. Either they are not needed, with
// the reason, or they request something unsupported: then the kubelet warns, or refuses to start with --strict.

import { group, harmless, missing } from './field.js'
import type { Json } from './node.js'

const fewRequests = 'this kubelet sends few requests to the API server'
const noVolumes = 'there are no volume plugins; pods with such a volume wait with a FailedMount event'
const watchesObjects = 'each object that a pod refers to is watched, as with Watch'

/** For policies whose zero value is a word. */
const otherThan =
  (word: string) =>
  (value: Json): boolean =>
    typeof value !== 'string' || (value !== '' && value.toLowerCase() !== word)

export const upstreamFields = {
  // Protection of the node
  kernelMemcgNotification: harmless('available memory is read several times a second when it is scarce'),

  // Guarantees to pods
  cpuManagerPolicy: missing({
    what: 'containers do not get exclusive CPUs',
    remedy: 'set it to none; cpu requests still set cpu.weight',
    asks: otherThan('none'),
  }),
  cpuManagerPolicyOptions: harmless('it only tunes cpuManagerPolicy, which is reported', 22),
  cpuManagerReconcilePeriod: harmless('it only tunes cpuManagerPolicy, which is reported'),
  memoryManagerPolicy: missing(
    {
      what: 'containers do not get memory of one NUMA node',
      remedy: 'set it to None',
      asks: otherThan('none'),
    },
    21,
  ),
  reservedMemory: harmless('it only tunes memoryManagerPolicy, which is reported', 21),
  topologyManagerPolicy: missing({
    what: 'pods are not aligned to a NUMA node',
    remedy: 'set it to none',
    asks: otherThan('none'),
  }),
  topologyManagerPolicyOptions: harmless('it only tunes topologyManagerPolicy, which is reported', 26),
  topologyManagerScope: harmless('it only tunes topologyManagerPolicy, which is reported'),
  reservedSystemCPUs: missing({
    what: 'pods run on these CPUs too, and node allocatable includes them',
    remedy: 'reserve an amount with systemReserved.cpu, or use the kernel option isolcpus',
  }),
  qosReserved: missing({
    what: 'no memory is reserved for higher QoS classes',
    remedy: 'set the feature gate MemoryQoS and memoryReservationPolicy',
  }),
  defaultPodSysctls: missing(
    { what: 'pods do not get these sysctls', remedy: 'set securityContext.sysctls in each pod' },
    37,
  ),
  userNamespaces: group(
    'user namespaces of pods',
    { idsPerPod: harmless('a pod with hostUsers: false is refused') },
    33,
  ),

  // Where pods come from
  staticPodURL: missing({
    what: 'pods of this URL are not run',
    remedy: 'put the manifests in staticPodPath',
  }),
  staticPodURLHeader: harmless('part of staticPodURL, which is reported'),
  httpCheckFrequency: harmless('part of staticPodURL, which is reported'),
  runOnce: missing({
    what: 'the kubelet keeps running after its pods have started',
    remedy: 'remove it; releases since 1.37 refuse it as well',
  }),
  configMapAndSecretChangeDetectionStrategy: harmless(watchesObjects),
  volumePluginDir: harmless(noVolumes),

  // The cluster
  podCIDR: harmless('pod addresses are assigned by the CNI plugins of the runtime'),
  hairpinMode: harmless('bridges are set up by the CNI plugins of the runtime'),
  makeIPTablesUtilChains: harmless(
    'kube-proxy creates the chains that it needs; this kubelet does not use iptables',
  ),
  iptablesDropBit: harmless('this kubelet does not use iptables'),
  iptablesMasqueradeBit: harmless('this kubelet does not use iptables'),
  kubeAPIQPS: harmless(fewRequests),
  kubeAPIBurst: harmless(fewRequests),
  contentType: harmless('requests to the API server are JSON'),

  // Debugging
  enableProfilingHandler: harmless('there is no /debug/pprof', 21),
  enableContentionProfiling: harmless('there is no /debug/pprof'),
  enableDebugFlagsHandler: harmless('there is no /debug/flags', 21),
  enableSystemLogHandler: harmless('there is no /logs'),
  enableSystemLogQuery: harmless('there is no /logs', 27),
  showHiddenMetricsForVersion: harmless('no metric is hidden'),
  maxOpenFiles: harmless('LimitNOFILE= of the systemd unit applies; Node.js raises its soft limit to it'),
  tracing: group(
    'OpenTelemetry',
    {
      endpoint: harmless('tracing is not implemented'),
      samplingRatePerMillion: harmless('tracing is not implemented'),
    },
    25,
  ),
}

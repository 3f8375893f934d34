// Fields of KubeletConfiguration v1beta1 that upstream knows and nothing here reads. Either nobody misses them, with the
// reason, or they ask for something that does not happen: then the start says what, and a strict start is refused.

import { group, harmless, missing } from './field.js'
import type { Json } from './node.js'

const noEviction = 'it only tunes eviction, which evictionHard and evictionSoft report'
const fewRequests = 'this kubelet sends the API server a handful of requests'
const fewEvents = 'Events are few here, and wait in a bounded queue'
const noVolumes = 'a pod with such a volume is refused'
const noImageGc = 'it only tunes image garbage collection, which imageGCHighThresholdPercent reports'

/** For policies whose zero value is a word. */
const otherThan =
  (word: string) =>
  (value: Json): boolean =>
    typeof value !== 'string' || (value !== '' && value.toLowerCase() !== word)

export const upstreamFields = {
  // Protection of the node
  evictionSoft: missing({
    what: 'no pod is evicted when the node runs short',
    remedy: 'give every pod limits, and watch memory and disk from outside',
  }),
  evictionSoftGracePeriod: harmless(noEviction),
  evictionPressureTransitionPeriod: harmless(noEviction),
  evictionMaxPodGracePeriod: harmless(noEviction),
  evictionMinimumReclaim: harmless(noEviction),
  kernelMemcgNotification: harmless(noEviction),
  imageGCHighThresholdPercent: missing({
    what: 'unused images are never removed, and the disk may fill up',
    remedy: 'remove images yourself (crictl rmi --prune), or set it to 100',
    asks: (value) => value !== 0 && value !== 100,
  }),
  imageGCLowThresholdPercent: harmless(noImageGc),
  imageMinimumGCAge: harmless(noImageGc),
  imageMaximumGCAge: missing(
    { what: 'unused images are never removed', remedy: 'remove images yourself (crictl rmi --prune)' },
    29,
  ),
  localStorageCapacityIsolation: missing(
    {
      what: 'what pods write to the disk is neither measured against ephemeral-storage nor limited',
      remedy: 'put emptyDirs into memory, or give pods a disk of their own',
    },
    25,
  ),
  shutdownGracePeriod: missing({
    what: 'a shutdown of the machine does not wait for pods to end',
    remedy: 'drain the node, or empty staticPodPath, before the machine is shut down',
  }),
  shutdownGracePeriodCriticalPods: harmless('it is a part of shutdownGracePeriod, which is reported'),
  shutdownGracePeriodByPodPriority: missing(
    {
      what: 'a shutdown of the machine does not wait for pods to end',
      remedy: 'drain the node, or empty staticPodPath, before the machine is shut down',
    },
    23,
  ),
  kubeletCgroups: missing({
    what: 'the kubelet stays in the cgroup that it was started in',
    remedy: 'set Slice= in its unit of systemd',
  }),
  systemCgroups: missing({
    what: 'no process of the system is moved to it',
    remedy: 'let systemd place them in system.slice',
  }),

  // Guarantees to pods
  cpuManagerPolicy: missing({
    what: 'no container gets CPUs of its own',
    remedy: 'set it to none; cpu requests still count as weights',
    asks: otherThan('none'),
  }),
  cpuManagerPolicyOptions: harmless('it only tunes cpuManagerPolicy, which is reported', 22),
  cpuManagerReconcilePeriod: harmless('it only tunes cpuManagerPolicy, which is reported'),
  memoryManagerPolicy: missing(
    {
      what: 'no container gets memory of a NUMA node of its own',
      remedy: 'set it to None',
      asks: otherThan('none'),
    },
    21,
  ),
  reservedMemory: harmless('it only tunes memoryManagerPolicy, which is reported', 21),
  topologyManagerPolicy: missing({
    what: 'no pod is aligned to a NUMA node, nor refused where it cannot be',
    remedy: 'set it to none',
    asks: otherThan('none'),
  }),
  topologyManagerPolicyOptions: harmless('it only tunes topologyManagerPolicy, which is reported', 26),
  topologyManagerScope: harmless('it only tunes topologyManagerPolicy, which is reported'),
  reservedSystemCPUs: missing({
    what: 'pods run on these CPUs too, and node allocatable does not leave them out',
    remedy: 'reserve an amount with systemReserved.cpu, or keep pods off with isolcpus of the kernel',
  }),
  qosReserved: missing({
    what: 'no memory is kept from pods of lower classes',
    remedy: 'set the feature gate MemoryQoS and memoryReservationPolicy',
  }),
  defaultPodSysctls: missing(
    { what: 'pods do not get these sysctls', remedy: 'set securityContext.sysctls in each pod' },
    37,
  ),
  allowedUnsafeSysctls: harmless('a pod that asks for an unsafe sysctl is refused'),
  userNamespaces: group(
    'user namespaces of pods',
    { idsPerPod: harmless('a pod with hostUsers: false is refused') },
    33,
  ),
  crashLoopBackOff: group(
    'restarts of containers',
    {
      maxContainerRestartPeriod: harmless('a container that fails again waits up to 5 minutes, the longest'),
    },
    32,
  ),

  // Images
  imagePullCredentialsVerificationPolicy: missing(
    {
      what: 'any pod may use any image that is on the node',
      remedy: 'set it to NeverVerify, and run only pods that may see all images',
      asks: (value) => value !== '' && value !== 'NeverVerify',
    },
    33,
  ),
  preloadedImagesVerificationAllowlist: harmless(
    'it only lists exceptions of imagePullCredentialsVerificationPolicy, which is reported',
    33,
  ),
  registryPullQPS: harmless(
    'serializeImagePulls and maxParallelImagePulls bound the pulls, and failures wait',
  ),
  registryBurst: harmless('serializeImagePulls and maxParallelImagePulls bound the pulls, and failures wait'),

  // Where pods come from
  staticPodURL: missing({
    what: 'no pod of this URL runs',
    remedy: 'put the manifests into staticPodPath',
  }),
  staticPodURLHeader: harmless('it is a part of staticPodURL, which is reported'),
  httpCheckFrequency: harmless('it is a part of staticPodURL, which is reported'),
  runOnce: missing({
    what: 'the kubelet goes on running after its pods have started',
    remedy: 'remove it; releases since 1.37 refuse it too',
  }),
  configMapAndSecretChangeDetectionStrategy: harmless(noVolumes),
  volumePluginDir: harmless(noVolumes),

  // The cluster
  podCIDR: harmless('addresses of pods are the business of the runtime and its CNI plugins'),
  hairpinMode: harmless('bridges are the business of the runtime and its CNI plugins'),
  makeIPTablesUtilChains: harmless('kube-proxy makes the chains that it needs; nothing here uses iptables'),
  iptablesDropBit: harmless('nothing here uses iptables'),
  iptablesMasqueradeBit: harmless('nothing here uses iptables'),
  kubeAPIQPS: harmless(fewRequests),
  kubeAPIBurst: harmless(fewRequests),
  contentType: harmless('requests to the API server are JSON'),
  eventRecordQPS: harmless(fewEvents),
  eventBurst: harmless(fewEvents),

  // Debugging
  enableProfilingHandler: harmless('there is no /debug/pprof', 21),
  enableContentionProfiling: harmless('there is no /debug/pprof'),
  enableDebugFlagsHandler: harmless('there is no /debug/flags', 21),
  enableSystemLogHandler: harmless('there is no /logs'),
  enableSystemLogQuery: harmless('there is no /logs', 27),
  showHiddenMetricsForVersion: harmless('no metric is hidden'),
  maxOpenFiles: harmless('the limit of the service counts (LimitNOFILE=); Node.js raises itself up to it'),
  tracing: group(
    'OpenTelemetry',
    {
      endpoint: harmless('no traces are made'),
      samplingRatePerMillion: harmless('no traces are made'),
    },
    25,
  ),
}

// KubeletConfiguration v1beta1: every field that Keelson reads, with upstream's names, defaults and zero rules, and beside
// them those of upstream-fields.ts, which it does not. Each field is there once.

import type { Infer } from './field.js'
import { group, harmless } from './field.js'
import {
  choice,
  duration,
  evictionMap,
  factor,
  flag,
  gateMap,
  int32,
  integer,
  integerList,
  path,
  port,
  portOrOff,
  quantityText,
  reservation,
  text,
  textList,
} from './field-kinds.js'
import { nodeFields } from './kubelet-fields/node-fields.js'
import type { Json } from './node.js'
import { upstreamFields } from './upstream-fields.js'

export const kubeletApiVersion = 'kubelet.config.k8s.io/v1beta1'
export const kubeletKind = 'KubeletConfiguration'

const unset = { zeroIsUnset: true } as const
const ms = 1_000_000n
const s = 1_000n * ms

const logOptions = () =>
  group('where lines go', {
    splitStream: harmless('all lines go to standard error'),
    infoBufferSize: harmless('each line is written at once'),
  })

const isZero = (threshold: Json): boolean => /^0*(\.0*)?[^\d.]*$/.test(String(threshold))

const fieldsRead = {
  // Runtime
  containerRuntimeEndpoint: path('CRI socket of the runtime', {
    ...unset,
    since: 27,
    default: 'unix:///run/containerd/containerd.sock',
  }),
  imageServiceEndpoint: path('CRI socket for images; not set: the runtime endpoint', { ...unset, since: 27 }),
  runtimeRequestTimeout: duration()('deadline of one CRI call', { ...unset, default: '2m0s' }),
  serializeImagePulls: flag('pull one image at a time; default false when maxParallelImagePulls is above 1', {
    default: true,
  }),
  maxParallelImagePulls: integer(1, 2 ** 31 - 1)('images pulled at once', { since: 27 }),

  // Cgroups
  cgroupDriver: text('`cgroupfs` or `systemd`; the answer of the runtime beats it', {
    ...unset,
    default: 'cgroupfs',
  }),
  cgroupRoot: path('cgroup below which the pods live; not set: the root', unset),
  cgroupsPerQOS: flag('keep a cgroup per QoS class and pod', { default: true }),
  failCgroupV1: flag('refuse to start on cgroup v1', {
    since: 31,
    default: ({ version }) => version.minor >= 35,
    defaultText: '`true` from 1.35, `false` before',
  }),
  enforceNodeAllocatable: textList(
    'pods, kube-reserved, kube-reserved-compressible, system-reserved, system-reserved-compressible, none',
    { default: ['pods'] },
  ),
  kubeReserved: reservation('resources set aside for Kubernetes daemons', { default: {} }),
  systemReserved: reservation('resources set aside for the system', { default: {} }),
  kubeReservedCgroup: path('cgroup of the Kubernetes daemons', unset),
  systemReservedCgroup: path('cgroup of the system daemons', unset),
  podPidsLimit: integer(-1, Number.MAX_SAFE_INTEGER)('processes per pod; -1: no limit', { default: -1 }),
  cpuCFSQuota: flag('enforce CPU limits', { default: true }),
  cpuCFSQuotaPeriod: duration(ms, s)('CFS period; other than 100ms needs the gate CustomCPUCFSQuotaPeriod', {
    default: '100ms',
  }),

  // Memory
  memoryThrottlingFactor: factor('memory.high lies this far from request to limit; null: no memory.high', {
    since: 22,
    nullIsValue: true,
    defaultText:
      'with the gate MemoryQoS on: 0.8 up to 1.26, 0.9 from 1.27, not set from 1.37 in profile upstream',
  }),
  memoryReservationPolicy: text(
    'what memory.min and memory.low protect: None, HardReservation, TieredReservation',
    {
      since: 36,
      earlyIsError: true,
      defaultText: '`None`',
    },
  ),
  memorySwap: group(
    'swap of containers',
    {
      swapBehavior: choice('NoSwap', 'LimitedSwap')('who may swap', { ...unset, default: 'NoSwap' }),
    },
    22,
  ),
  failSwapOn: flag('refuse to start when the node has swap on', { default: true }),
  singleProcessOOMKill: flag('the OOM killer takes one process, not the whole container', {
    since: 32,
    default: false,
  }),
  evictionHard: evictionMap('hard eviction thresholds; memory.available lowers node allocatable', {
    missing: {
      what: 'no pod is evicted when the node runs short; memory.available only lowers node allocatable',
      remedy: 'give every pod limits, and watch memory and disk from outside',
      asks: (value) => Object.values(value ?? {}).some((threshold: Json) => !isZero(threshold)),
    },
    default: {
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
    },
  }),
  mergeDefaultEvictionSettings: flag('thresholds left out of evictionHard keep their defaults', {
    since: 33,
    default: false,
  }),

  // Pods
  staticPodPath: path('directory or file of static pod manifests', unset),
  fileCheckFrequency: duration()('full listing of staticPodPath', { ...unset, default: '20s' }),
  syncFrequency: duration()('longest time between two looks at a pod', { ...unset, default: '1m0s' }),
  maxPods: integer(0, 2 ** 31 - 1)('pods on this node', { ...unset, default: 110 }),
  podsPerCore: integer(0, 2 ** 31 - 1)(
    'pods for each CPU, where that is less than maxPods; 0: no such limit',
    {
      default: 0,
    },
  ),
  seccompDefault: flag("containers without a seccomp profile get the runtime's own, not none", {
    since: 22,
    default: false,
  }),
  podLogsDir: path('where container logs are written', { ...unset, since: 30, default: '/var/log/pods' }),
  containerLogMaxSize: quantityText('size at which a container log is rotated', {
    ...unset,
    default: '10Mi',
  }),
  containerLogMaxFiles: integer(2, 2 ** 31 - 1)('log files kept per container', { default: 5 }),
  containerLogMaxWorkers: integer(1, 2 ** 31 - 1)('rotations at once', { since: 30, default: 1 }),
  containerLogMonitorInterval: duration(3n * s)('time between looks at log sizes', {
    since: 30,
    default: '10s',
  }),
  clusterDNS: textList('DNS servers of pods with dnsPolicy ClusterFirst; not set: those of resolvConf'),
  clusterDomain: text('DNS domain of the cluster, searched by these pods', unset),
  resolvConf: path('resolv.conf that pods inherit', { default: '/etc/resolv.conf' }),

  // Server
  enableServer: flag('serve HTTPS', { default: true }),
  address: text('address of the HTTPS server', { ...unset, default: '0.0.0.0' }),
  port: port('port of the HTTPS server', { ...unset, default: 10250 }),
  readOnlyPort: portOrOff('plain HTTP without authentication; 0: off', { default: 0 }),
  healthzPort: portOrOff('health endpoint; 0: off', { default: 10248 }),
  healthzBindAddress: text('address of the health endpoint', { ...unset, default: '127.0.0.1' }),
  enableDebuggingHandlers: flag('exec, logs and other debugging endpoints', { default: true }),
  streamingConnectionIdleTimeout: duration()('idle exec, attach and port-forward streams end after', {
    ...unset,
    default: '4h0m0s',
  }),
  tlsCertFile: path('serving certificate; not set: self-signed', unset),
  tlsPrivateKeyFile: path('key of tlsCertFile', unset),
  tlsCipherSuites: textList('cipher suites of TLS 1.2, IANA names'),
  tlsMinVersion: choice('VersionTLS12', 'VersionTLS13')('oldest TLS version', {
    ...unset,
    default: 'VersionTLS12',
  }),
  tlsCurvePreferences: integerList(
    'key exchanges of TLS by their numbers: 23 P-256, 24 P-384, 25 P-521, 29 X25519; others are not offered',
    { since: 36 },
  ),
  authentication: group('who a caller is', {
    x509: group('client certificates', { clientCAFile: path('CA of client certificates', unset) }),
    webhook: group('bearer tokens', {
      enabled: flag('ask the API server about tokens', { default: true }),
      cacheTTL: duration()('answers are kept for', { ...unset, default: '2m0s' }),
    }),
    anonymous: group('callers without credentials', { enabled: flag('let them in', { default: false }) }),
  }),
  authorization: group('what a caller may do', {
    mode: choice('Webhook', 'AlwaysAllow')('who decides', { ...unset, default: 'Webhook' }),
    webhook: group('SubjectAccessReview', {
      cacheAuthorizedTTL: duration()('yes is kept for', { ...unset, default: '5m0s' }),
      cacheUnauthorizedTTL: duration()('no is kept for', { ...unset, default: '30s' }),
    }),
  }),
  volumeStatsAggPeriod: duration(-(2n ** 62n))('time between volume measurements; below 0: off', {
    ...unset,
    default: '1m0s',
  }),

  // A node of a cluster
  ...nodeFields,

  // The program itself
  protectKernelDefaults: flag('refuse to start where kernel settings are not those that a kubelet wants', {
    default: false,
  }),
  oomScoreAdj: integer(
    -1000,
    1000,
  )("the kubelet's own place with the OOM killer; not set: as it was started"),
  featureGates: gateMap('feature gates of the Kubernetes version in use', { default: {} }),
  logging: group('log of the kubelet', {
    format: choice('text', 'json')('form of a line', { ...unset, default: 'text' }),
    verbosity: int32('detail; 0 is normal, 4 is debugging', { default: 0 }),
    flushFrequency: harmless('each line is written at once'),
    vmodule: harmless('verbosity counts for every file'),
    options: group('of each format', { text: logOptions(), json: logOptions() }),
    sanitization: harmless('no line has a credential in it'),
  }),
}

export const kubeletSchema = { ...fieldsRead, ...upstreamFields }

/** Without the fields that nothing reads, so that nothing begins to. */
export type KubeletConfig = Infer<typeof fieldsRead>

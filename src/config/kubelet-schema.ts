// KubeletConfiguration v1beta1: every field that Keelson reads, with upstream's names, defaults and zero rules, and beside
// them those of upstream-fields.ts, which it does not. Each field is there once.

import type { Infer } from './field.js'
import { group, harmless } from './field.js'
import {
  choice,
  duration,
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
import { protectionFields } from './kubelet-fields/protection-fields.js'
import { upstreamFields } from './upstream-fields.js'

export const kubeletApiVersion = 'kubelet.config.k8s.io/v1beta1'
export const kubeletKind = 'KubeletConfiguration'

const unset = { zeroIsUnset: true } as const
const ms = 1_000_000n
const s = 1_000n * ms

const logOptions = () =>
  group('output of log lines', {
    splitStream: harmless('all lines are written to standard error'),
    infoBufferSize: harmless('each line is written at once'),
  })

const fieldsRead = {
  // Runtime
  containerRuntimeEndpoint: path('CRI socket of the runtime', {
    ...unset,
    since: 27,
    default: 'unix:///run/containerd/containerd.sock',
  }),
  imageServiceEndpoint: path('CRI socket for images; default: the runtime endpoint', { ...unset, since: 27 }),
  runtimeRequestTimeout: duration()('deadline of one CRI call', { ...unset, default: '2m0s' }),
  serializeImagePulls: flag('pull one image at a time; default false when maxParallelImagePulls is above 1', {
    default: true,
  }),
  registryPullQPS: integer(0, 2 ** 31 - 1)('image pulls per second after the burst; 0: no limit', {
    default: 5,
  }),
  registryBurst: integer(0, 2 ** 31 - 1)('image pulls at once', { default: 10 }),
  imagePullCredentialsVerificationPolicy: choice(
    'NeverVerify',
    'NeverVerifyPreloadedImages',
    'NeverVerifyAllowlistedImages',
    'AlwaysVerify',
  )('which images on the node a pod may use only with credentials', {
    since: 33,
    default: 'NeverVerifyPreloadedImages',
  }),
  preloadedImagesVerificationAllowlist: textList(
    'repositories of NeverVerifyAllowlistedImages, `/*` at the end for all below',
    {
      since: 33,
      default: [],
    },
  ),
  maxParallelImagePulls: integer(1, 2 ** 31 - 1)('concurrent image pulls', { since: 27 }),

  // Cgroups
  cgroupDriver: text('`cgroupfs` or `systemd`; the runtime overrides it', {
    ...unset,
    default: 'cgroupfs',
  }),
  cgroupRoot: path('parent cgroup of the pods; default: the root', unset),
  cgroupsPerQOS: flag('create a cgroup for each QoS class and pod', { default: true }),
  failCgroupV1: flag('refuse to start on cgroup v1', {
    since: 31,
    default: ({ version }) => version.minor >= 35,
    defaultText: '`true` from 1.35, `false` before',
  }),
  enforceNodeAllocatable: textList(
    'pods, kube-reserved, kube-reserved-compressible, system-reserved, system-reserved-compressible, none',
    { default: ['pods'] },
  ),
  kubeReserved: reservation('resources reserved for Kubernetes daemons', { default: {} }),
  systemReserved: reservation('resources reserved for the system', { default: {} }),
  kubeReservedCgroup: path('cgroup of the Kubernetes daemons', unset),
  systemReservedCgroup: path('cgroup of the system daemons', unset),
  kubeletCgroups: path('cgroup that the kubelet moves itself to; default: it stays in its own', unset),
  systemCgroups: path('cgroup that processes of the root cgroup are moved to; needs cgroupRoot', unset),
  podPidsLimit: integer(-1, Number.MAX_SAFE_INTEGER)('processes per pod; -1: no limit', { default: -1 }),
  cpuCFSQuota: flag('enforce CPU limits', { default: true }),
  cpuCFSQuotaPeriod: duration(ms, s)('CFS period; other than 100ms needs the gate CustomCPUCFSQuotaPeriod', {
    default: '100ms',
  }),

  // Memory
  memoryThrottlingFactor: factor(
    'position of memory.high between request (0) and limit (1); null: no memory.high',
    {
      since: 22,
      nullIsValue: true,
      defaultText:
        'with the gate MemoryQoS on: 0.8 up to 1.26, 0.9 from 1.27, not set from 1.37 in profile upstream',
    },
  ),
  memoryReservationPolicy: text(
    'memory that memory.min and memory.low protect: None, HardReservation, TieredReservation',
    {
      since: 36,
      earlyIsError: true,
      defaultText: '`None`',
    },
  ),
  memorySwap: group(
    'swap of containers',
    {
      swapBehavior: choice('NoSwap', 'LimitedSwap')('which containers may swap', {
        ...unset,
        default: 'NoSwap',
      }),
    },
    22,
  ),
  failSwapOn: flag('refuse to start when the node has swap on', { default: true }),
  singleProcessOOMKill: flag('the OOM killer kills one process, not the whole container', {
    since: 32,
    default: false,
  }),

  // Protection of the node
  ...protectionFields,

  // Pods
  staticPodPath: path('directory or file of static pod manifests', unset),
  fileCheckFrequency: duration()('time between full scans of staticPodPath', { ...unset, default: '20s' }),
  syncFrequency: duration()('longest time between two syncs of a pod', { ...unset, default: '1m0s' }),
  maxPods: integer(0, 2 ** 31 - 1)('pods on this node', { ...unset, default: 110 }),
  podsPerCore: integer(0, 2 ** 31 - 1)('pods per CPU, if less than maxPods; 0: no limit', {
    default: 0,
  }),
  seccompDefault: flag('use the RuntimeDefault seccomp profile for containers without one', {
    since: 22,
    default: false,
  }),
  podLogsDir: path('where container logs are written', { ...unset, since: 30, default: '/var/log/pods' }),
  containerLogMaxSize: quantityText('size at which a container log is rotated', {
    ...unset,
    default: '10Mi',
  }),
  containerLogMaxFiles: integer(2, 2 ** 31 - 1)('log files kept per container', { default: 5 }),
  containerLogMaxWorkers: integer(1, 2 ** 31 - 1)('concurrent rotations', { since: 30, default: 1 }),
  containerLogMonitorInterval: duration(3n * s)('time between checks of log sizes', {
    since: 30,
    default: '10s',
  }),
  allowedUnsafeSysctls: textList(
    'sysctls that pods may set besides the safe ones; `net.core.*` is all that begin so',
  ),
  crashLoopBackOff: group(
    'restarts of containers',
    {
      maxContainerRestartPeriod: duration(s)('longest back-off between two restarts of a container', {
        ...unset,
        default: '5m0s',
      }),
    },
    32,
  ),
  clusterDNS: textList('DNS servers of pods with dnsPolicy ClusterFirst; default: those of resolvConf'),
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
  tlsCertFile: path('serving certificate; default: self-signed', unset),
  tlsPrivateKeyFile: path('private key of tlsCertFile', unset),
  tlsCipherSuites: textList('cipher suites of TLS 1.2, IANA names'),
  tlsMinVersion: choice('VersionTLS12', 'VersionTLS13')('minimum TLS version', {
    ...unset,
    default: 'VersionTLS12',
  }),
  tlsCurvePreferences: integerList(
    'key exchanges of TLS by their numbers: 23 P-256, 24 P-384, 25 P-521, 29 X25519; others are ignored',
    { since: 36 },
  ),
  authentication: group('authentication of requests', {
    x509: group('client certificates', { clientCAFile: path('CA of client certificates', unset) }),
    webhook: group('bearer tokens', {
      enabled: flag('authenticate bearer tokens with TokenReview', { default: true }),
      cacheTTL: duration()('how long token reviews are cached', { ...unset, default: '2m0s' }),
    }),
    anonymous: group('requests without credentials', {
      enabled: flag('allow them, as system:anonymous', { default: false }),
    }),
  }),
  authorization: group('authorization of requests', {
    mode: choice('Webhook', 'AlwaysAllow')('Webhook: SubjectAccessReview; AlwaysAllow: no check', {
      ...unset,
      default: 'Webhook',
    }),
    webhook: group('SubjectAccessReview', {
      cacheAuthorizedTTL: duration()('how long allowed requests are cached', { ...unset, default: '5m0s' }),
      cacheUnauthorizedTTL: duration()('how long denied requests are cached', { ...unset, default: '30s' }),
    }),
  }),
  volumeStatsAggPeriod: duration(-(2n ** 62n))('time between volume measurements; below 0: off', {
    ...unset,
    default: '1m0s',
  }),

  // A node of a cluster
  ...nodeFields,

  // The program itself
  protectKernelDefaults: flag('refuse to start if kernel settings differ from what the kubelet needs', {
    default: false,
  }),
  oomScoreAdj: integer(-1000, 1000)('oom_score_adj of the kubelet; default: unchanged'),
  featureGates: gateMap('feature gates of the Kubernetes version in use', { default: {} }),
  logging: group('log of the kubelet', {
    format: choice('text', 'json')('format of log lines', { ...unset, default: 'text' }),
    verbosity: int32('verbosity; 0: normal, 4: debug', { default: 0 }),
    flushFrequency: harmless('each line is written at once'),
    vmodule: harmless('verbosity applies to every file'),
    options: group('options of each format', { text: logOptions(), json: logOptions() }),
    sanitization: harmless('log lines contain no credentials'),
  }),
}

export const kubeletSchema = { ...fieldsRead, ...upstreamFields }

/** Without the fields that nothing reads, so that nothing begins to. */
export type KubeletConfig = Infer<typeof fieldsRead>

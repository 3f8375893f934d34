// The kubelet's command line as data: which field each flag sets, and which releases know the other flags. Parsing is flags.ts; nothing here runs.

import type { Effect } from './field.js'

export type FlagKind = 'text' | 'int' | 'bool' | 'list' | 'map' | 'thresholds' | 'gates'

export interface FlagRow {
  readonly kind: FlagKind
  /** Field of KubeletConfiguration that the flag sets; undefined: it is about the program itself. */
  readonly field?: string
  readonly since?: number
  /** Flags that mirror a field are deprecated in favour of the file, with these exceptions. */
  readonly kept?: true
}

const mirror = (kind: FlagKind, field: string, since?: number): FlagRow =>
  since === undefined ? { kind, field } : { kind, field, since }

export const flagTable = {
  address: mirror('text', 'address'),
  'anonymous-auth': mirror('bool', 'authentication.anonymous.enabled'),
  'authentication-token-webhook': mirror('bool', 'authentication.webhook.enabled'),
  'authentication-token-webhook-cache-ttl': mirror('text', 'authentication.webhook.cacheTTL'),
  'authorization-mode': mirror('text', 'authorization.mode'),
  'authorization-webhook-cache-authorized-ttl': mirror('text', 'authorization.webhook.cacheAuthorizedTTL'),
  'authorization-webhook-cache-unauthorized-ttl': mirror(
    'text',
    'authorization.webhook.cacheUnauthorizedTTL',
  ),
  'cgroup-driver': mirror('text', 'cgroupDriver'),
  'cgroup-root': mirror('text', 'cgroupRoot'),
  'cgroups-per-qos': mirror('bool', 'cgroupsPerQOS'),
  'client-ca-file': mirror('text', 'authentication.x509.clientCAFile'),
  'container-log-max-files': mirror('int', 'containerLogMaxFiles'),
  'container-log-max-size': mirror('text', 'containerLogMaxSize'),
  'container-runtime-endpoint': mirror('text', 'containerRuntimeEndpoint'),
  'cpu-cfs-quota': mirror('bool', 'cpuCFSQuota'),
  'cpu-cfs-quota-period': mirror('text', 'cpuCFSQuotaPeriod'),
  'enable-debugging-handlers': mirror('bool', 'enableDebuggingHandlers'),
  'enable-server': mirror('bool', 'enableServer'),
  'enforce-node-allocatable': mirror('list', 'enforceNodeAllocatable'),
  'eviction-hard': mirror('thresholds', 'evictionHard'),
  'fail-cgroupv1': { ...mirror('bool', 'failCgroupV1', 31), kept: true },
  'fail-swap-on': mirror('bool', 'failSwapOn'),
  'feature-gates': mirror('gates', 'featureGates'),
  'file-check-frequency': mirror('text', 'fileCheckFrequency'),
  'healthz-bind-address': mirror('text', 'healthzBindAddress'),
  'healthz-port': mirror('int', 'healthzPort'),
  'image-service-endpoint': mirror('text', 'imageServiceEndpoint'),
  'kube-reserved': mirror('map', 'kubeReserved'),
  'kube-reserved-cgroup': mirror('text', 'kubeReservedCgroup'),
  'max-pods': mirror('int', 'maxPods'),
  'pod-manifest-path': mirror('text', 'staticPodPath'),
  'pod-max-pids': mirror('int', 'podPidsLimit'),
  port: mirror('int', 'port'),
  'read-only-port': mirror('int', 'readOnlyPort'),
  'resolv-conf': mirror('text', 'resolvConf'),
  'runtime-request-timeout': mirror('text', 'runtimeRequestTimeout'),
  'serialize-image-pulls': mirror('bool', 'serializeImagePulls'),
  'streaming-connection-idle-timeout': mirror('text', 'streamingConnectionIdleTimeout'),
  'sync-frequency': mirror('text', 'syncFrequency'),
  'system-reserved': mirror('map', 'systemReserved'),
  'system-reserved-cgroup': mirror('text', 'systemReservedCgroup'),
  'tls-cert-file': mirror('text', 'tlsCertFile'),
  'tls-cipher-suites': mirror('list', 'tlsCipherSuites'),
  'tls-min-version': mirror('text', 'tlsMinVersion'),
  'tls-private-key-file': mirror('text', 'tlsPrivateKeyFile'),
  'volume-stats-agg-period': mirror('text', 'volumeStatsAggPeriod'),
  'logging-format': mirror('text', 'logging.format'),
  v: { ...mirror('int', 'logging.verbosity'), kept: true },
  'allowed-unsafe-sysctls': mirror('list', 'allowedUnsafeSysctls'),
  'cluster-dns': mirror('list', 'clusterDNS'),
  'cluster-domain': mirror('text', 'clusterDomain'),
  'contention-profiling': mirror('bool', 'enableContentionProfiling'),
  'cpu-manager-policy': mirror('text', 'cpuManagerPolicy'),
  'cpu-manager-policy-options': mirror('map', 'cpuManagerPolicyOptions', 22),
  'cpu-manager-reconcile-period': mirror('text', 'cpuManagerReconcilePeriod'),
  'enable-controller-attach-detach': mirror('bool', 'enableControllerAttachDetach'),
  'event-burst': mirror('int', 'eventBurst'),
  'event-qps': mirror('int', 'eventRecordQPS'),
  'eviction-max-pod-grace-period': mirror('int', 'evictionMaxPodGracePeriod'),
  'eviction-minimum-reclaim': mirror('map', 'evictionMinimumReclaim'),
  'eviction-pressure-transition-period': mirror('text', 'evictionPressureTransitionPeriod'),
  'eviction-soft': mirror('thresholds', 'evictionSoft'),
  'eviction-soft-grace-period': mirror('map', 'evictionSoftGracePeriod'),
  'hairpin-mode': mirror('text', 'hairpinMode'),
  'http-check-frequency': mirror('text', 'httpCheckFrequency'),
  'image-gc-high-threshold': mirror('int', 'imageGCHighThresholdPercent'),
  'image-gc-low-threshold': mirror('int', 'imageGCLowThresholdPercent'),
  'kernel-memcg-notification': mirror('bool', 'kernelMemcgNotification'),
  'kube-api-burst': mirror('int', 'kubeAPIBurst'),
  'kube-api-content-type': mirror('text', 'contentType'),
  'kube-api-qps': mirror('int', 'kubeAPIQPS'),
  'kubelet-cgroups': mirror('text', 'kubeletCgroups'),
  'local-storage-capacity-isolation': mirror('bool', 'localStorageCapacityIsolation', 25),
  'log-flush-frequency': { ...mirror('text', 'logging.flushFrequency'), kept: true },
  'log-json-info-buffer-size': mirror('text', 'logging.options.json.infoBufferSize', 24),
  'log-json-split-stream': mirror('bool', 'logging.options.json.splitStream', 24),
  'log-text-info-buffer-size': mirror('text', 'logging.options.text.infoBufferSize', 31),
  'log-text-split-stream': mirror('bool', 'logging.options.text.splitStream', 31),
  'make-iptables-util-chains': mirror('bool', 'makeIPTablesUtilChains'),
  'manifest-url': mirror('text', 'staticPodURL'),
  'manifest-url-header': mirror('text', 'staticPodURLHeader'),
  'max-open-files': mirror('int', 'maxOpenFiles'),
  'memory-manager-policy': mirror('text', 'memoryManagerPolicy', 21),
  'minimum-image-ttl-duration': mirror('text', 'imageMinimumGCAge'),
  'node-status-max-images': mirror('int', 'nodeStatusMaxImages'),
  'node-status-update-frequency': mirror('text', 'nodeStatusUpdateFrequency'),
  'oom-score-adj': mirror('int', 'oomScoreAdj'),
  'pod-cidr': mirror('text', 'podCIDR'),
  'pods-per-core': mirror('int', 'podsPerCore'),
  'protect-kernel-defaults': mirror('bool', 'protectKernelDefaults'),
  'provider-id': { ...mirror('text', 'providerID'), kept: true },
  'qos-reserved': mirror('map', 'qosReserved'),
  'register-node': mirror('bool', 'registerNode'),
  'register-with-taints': mirror('list', 'registerWithTaints'),
  'registry-burst': mirror('int', 'registryBurst'),
  'registry-qps': mirror('int', 'registryPullQPS'),
  'reserved-cpus': mirror('text', 'reservedSystemCPUs'),
  'reserved-memory': mirror('text', 'reservedMemory', 21),
  'rotate-certificates': mirror('bool', 'rotateCertificates'),
  'rotate-server-certificates': mirror('bool', 'serverTLSBootstrap'),
  runonce: mirror('bool', 'runOnce'),
  'seccomp-default': { ...mirror('bool', 'seccompDefault', 22), kept: true },
  'system-cgroups': mirror('text', 'systemCgroups'),
  'topology-manager-policy': mirror('text', 'topologyManagerPolicy'),
  'topology-manager-policy-options': mirror('map', 'topologyManagerPolicyOptions', 26),
  'topology-manager-scope': mirror('text', 'topologyManagerScope'),
  vmodule: { ...mirror('text', 'logging.vmodule'), kept: true },
  'volume-plugin-dir': mirror('text', 'volumePluginDir'),
  config: { kind: 'text' },
  'config-dir': { kind: 'text', since: 28 },
  kubeconfig: { kind: 'text' },
  'bootstrap-kubeconfig': { kind: 'text' },
  'cert-dir': { kind: 'text' },
  'cloud-provider': { kind: 'text' },
  'node-labels': { kind: 'map' },
  'node-ip': { kind: 'text' },
  'hostname-override': { kind: 'text' },
  'image-credential-provider-config': { kind: 'text' },
  'image-credential-provider-bin-dir': { kind: 'text' },
  'root-dir': { kind: 'text' },
  'runtime-cgroups': { kind: 'text' },
  // Ours
  'keelson-config': { kind: 'text' },
  'kubernetes-version': { kind: 'text' },
  profile: { kind: 'text' },
  strict: { kind: 'bool' },
} as const satisfies Record<string, FlagRow>

/**
 * Flags of upstream that set no field and that nothing here reads, by the reason why that is so: name, `!` when it takes
 * no value, and the minors that know it where these are not all of 1.20 to 1.40.
 */
const others: readonly { readonly effect: OtherEffect; readonly flags: string }[] = [
  {
    effect: { kind: 'harmless', why: 'log lines are written to standard error at once' },
    flags: `add-dir-header! 20-25; alsologtostderr! 20-25; experimental-logging-sanitization! 20-21; log-backtrace-at 20-25;
      log-dir 20-25; log-file 20-25; log-file-max-size 20-25; logtostderr! 20-25; one-output! 20-25; skip-headers! 20-25;
      skip-log-headers! 20-25; stderrthreshold 20-25`,
  },
  {
    effect: { kind: 'harmless', why: 'container metrics do not come from cAdvisor' },
    flags: `application-metrics-count-limit 20-36; boot-id-file 20-36; container-hints 20-36; containerd 20-36;
      containerd-namespace 20-36; docker 20-23; docker-env-metadata-whitelist 20-23; docker-only! 20-23; docker-root 20-23;
      docker-tls! 20-23; docker-tls-ca 20-23; docker-tls-cert 20-23; docker-tls-key 20-23;
      enable-cadvisor-json-endpoints! 20-20; enable-load-reader! 20-36; event-storage-age-limit 20-36;
      event-storage-event-limit 20-36; global-housekeeping-interval 20-36; housekeeping-interval; log-cadvisor-usage! 20-36;
      machine-id-file 20-36; storage-driver-buffer-duration 20-36; storage-driver-db 20-36; storage-driver-host 20-36;
      storage-driver-password 20-36; storage-driver-secure! 20-36; storage-driver-table 20-36; storage-driver-user 20-36`,
  },
  {
    effect: { kind: 'harmless', why: 'a CRI runtime sets up the pod network itself' },
    flags: `cni-bin-dir 20-23; cni-cache-dir 20-23; cni-conf-dir 20-23; container-runtime 20-26; docker-endpoint 20-23;
      experimental-dockershim-root-directory 20-23; image-pull-progress-deadline 20-23; network-plugin 20-23;
      network-plugin-mtu 20-23; non-masquerade-cidr 20-23; pod-infra-container-image 20-34;
      redirect-container-streaming! 20-20`,
  },
  {
    effect: { kind: 'harmless', why: 'cloud providers are outside the kubelet' },
    flags: 'cloud-config 20-33',
  },
  {
    effect: { kind: 'harmless', why: 'replaced by registerWithTaints' },
    flags: 'register-schedulable! 20-33',
  },
  {
    effect: { kind: 'harmless', why: 'an old name of --bootstrap-kubeconfig' },
    flags: 'experimental-bootstrap-kubeconfig 20-22',
  },
  {
    effect: { kind: 'harmless', why: 'only the last terminated container of each name is kept' },
    flags: 'maximum-dead-containers; maximum-dead-containers-per-container; minimum-container-ttl-duration',
  },
  {
    effect: { kind: 'harmless', why: 'pod volumes are local directories and tmpfs only' },
    flags: `experimental-check-node-capabilities-before-mount! 20-23; experimental-mounter-path;
      keep-terminated-pod-volumes! 20-30`,
  },
  {
    effect: {
      kind: 'harmless',
      why: 'node allocatable is then smaller than requested, which is safe',
    },
    flags: 'experimental-allocatable-ignore-eviction!',
  },
  {
    effect: { kind: 'harmless', why: 'available memory is read several times a second when it is scarce' },
    flags: 'experimental-kernel-memcg-notification! 20-24',
  },
  {
    effect: { kind: 'harmless', why: 'this kubelet does not use iptables' },
    flags: 'iptables-drop-bit 20-30; iptables-masquerade-bit 20-30',
  },
  {
    effect: {
      kind: 'harmless',
      why: 'profiles are read from seccomp below --root-dir; a pod without its profile does not start',
    },
    flags: 'seccomp-profile-root 20-22',
  },
  {
    effect: { kind: 'harmless', why: 'only for tests of the kubelet itself' },
    flags: 'chaos-chance 20-21; really-crash-for-testing! 20-23; master-service-namespace 20-26',
  },
  {
    effect: {
      kind: 'missing',
      what: 'a second kubelet is not prevented from starting',
      remedy: 'run the kubelet as one systemd service',
    },
    flags: 'lock-file',
  },
  {
    effect: { kind: 'harmless', why: 'part of --lock-file, which is reported' },
    flags: 'exit-on-lock-contention!',
  },
  {
    effect: {
      kind: 'missing',
      what: 'images are pulled without these credentials',
      remedy: 'use a credential provider plugin: --image-credential-provider-config',
    },
    flags: 'azure-container-registry-config 28-29',
  },
  {
    effect: {
      kind: 'missing',
      what: 'dynamic kubelet configuration from the API server is not used',
      remedy: 'set them in the file of --config',
    },
    flags: 'dynamic-config-dir 20-23',
  },
]

type OtherEffect = Exclude<Effect, { readonly kind: 'honoured' }>

interface OtherFlag {
  readonly kind: 'text' | 'bool'
  readonly effect: OtherEffect
  readonly since: number
  readonly until: number
}

/** `cloud-config 20-33` -> known from 1.20 to 1.33. */
export const otherFlags: ReadonlyMap<string, OtherFlag> = new Map(
  others.flatMap(({ effect, flags }) =>
    flags.split(/;\s*/).map((entry): [string, OtherFlag] => {
      const [name = '', minors = '-'] = entry.split(' ')
      const [since = '', until = ''] = minors.split('-')
      return [
        name.replace('!', ''),
        {
          kind: name.endsWith('!') ? 'bool' : 'text',
          effect,
          since: since === '' ? 0 : Number(since),
          until: until === '' ? Number.POSITIVE_INFINITY : Number(until),
        },
      ]
    }),
  ),
)

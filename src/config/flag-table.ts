// The kubelet's command line as data: which flags change something, where they land, and in which releases the
// others are known. Parsing is flags.ts; nothing here runs.

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
  config: { kind: 'text' },
  'config-dir': { kind: 'text', since: 28 },
  kubeconfig: { kind: 'text' },
  'node-ip': { kind: 'text' },
  'hostname-override': { kind: 'text' },
  'root-dir': { kind: 'text' },
  // Ours
  'keelson-config': { kind: 'text' },
  'kubernetes-version': { kind: 'text' },
  profile: { kind: 'text' },
  strict: { kind: 'bool' },
} as const satisfies Record<string, FlagRow>

/**
 * Flags of upstream without effect here: name, `!` when it takes no value, and the minors that know it where
 * these are not all of 1.20 to 1.40.
 */
const others = `
add-dir-header! 20-25; allowed-unsafe-sysctls; alsologtostderr! 20-25;
application-metrics-count-limit 20-36; azure-container-registry-config 28-29; boot-id-file 20-36;
bootstrap-kubeconfig; cert-dir; chaos-chance 20-21; cloud-config 20-33; cloud-provider; cluster-dns;
cluster-domain; cni-bin-dir 20-23; cni-cache-dir 20-23; cni-conf-dir 20-23; container-hints 20-36;
container-runtime 20-26; containerd 20-36; containerd-namespace 20-36; contention-profiling!;
cpu-manager-policy; cpu-manager-policy-options 22-; cpu-manager-reconcile-period; docker 20-23;
docker-endpoint 20-23; docker-env-metadata-whitelist 20-23; docker-only! 20-23; docker-root 20-23;
docker-tls! 20-23; docker-tls-ca 20-23; docker-tls-cert 20-23; docker-tls-key 20-23;
dynamic-config-dir 20-23; enable-cadvisor-json-endpoints! 20-20; enable-controller-attach-detach!;
enable-load-reader! 20-36; event-burst; event-qps; event-storage-age-limit 20-36;
event-storage-event-limit 20-36; eviction-max-pod-grace-period; eviction-minimum-reclaim;
eviction-pressure-transition-period; eviction-soft; eviction-soft-grace-period; exit-on-lock-contention!;
experimental-allocatable-ignore-eviction!; experimental-bootstrap-kubeconfig 20-22;
experimental-check-node-capabilities-before-mount! 20-23; experimental-dockershim-root-directory 20-23;
experimental-kernel-memcg-notification! 20-24; experimental-logging-sanitization! 20-21;
experimental-mounter-path; global-housekeeping-interval 20-36; hairpin-mode; housekeeping-interval;
http-check-frequency; image-credential-provider-bin-dir; image-credential-provider-config;
image-gc-high-threshold; image-gc-low-threshold; image-pull-progress-deadline 20-23;
iptables-drop-bit 20-30; iptables-masquerade-bit 20-30; keep-terminated-pod-volumes! 20-30;
kernel-memcg-notification!; kube-api-burst; kube-api-content-type; kube-api-qps; kubelet-cgroups;
local-storage-capacity-isolation! 25-; lock-file; log-backtrace-at 20-25; log-cadvisor-usage! 20-36;
log-dir 20-25; log-file 20-25; log-file-max-size 20-25; log-flush-frequency; log-json-info-buffer-size 24-;
log-json-split-stream! 24-; log-text-info-buffer-size 31-; log-text-split-stream! 31-; logtostderr! 20-25;
machine-id-file 20-36; make-iptables-util-chains!; manifest-url; manifest-url-header;
master-service-namespace 20-26; max-open-files; maximum-dead-containers;
maximum-dead-containers-per-container; memory-manager-policy 21-; minimum-container-ttl-duration;
minimum-image-ttl-duration; network-plugin 20-23; network-plugin-mtu 20-23; node-labels;
node-status-max-images; node-status-update-frequency; non-masquerade-cidr 20-23; one-output! 20-25;
oom-score-adj; pod-cidr; pod-infra-container-image 20-34; pods-per-core; protect-kernel-defaults!;
provider-id; qos-reserved; really-crash-for-testing! 20-23; redirect-container-streaming! 20-20;
register-node!; register-schedulable! 20-33; register-with-taints; registry-burst; registry-qps;
reserved-cpus; reserved-memory 21-; rotate-certificates!; rotate-server-certificates!; runonce!;
runtime-cgroups; seccomp-default! 22-; seccomp-profile-root 20-22; skip-headers! 20-25;
skip-log-headers! 20-25; stderrthreshold 20-25; storage-driver-buffer-duration 20-36;
storage-driver-db 20-36; storage-driver-host 20-36; storage-driver-password 20-36;
storage-driver-secure! 20-36; storage-driver-table 20-36; storage-driver-user 20-36; system-cgroups;
topology-manager-policy; topology-manager-policy-options 26-; topology-manager-scope; vmodule;
volume-plugin-dir
`

export interface OtherFlag {
  readonly kind: 'text' | 'bool'
  readonly since: number
  readonly until: number
}

/** `cloud-config 20-33` -> known from 1.20 to 1.33. */
export const otherFlags: ReadonlyMap<string, OtherFlag> = new Map(
  others
    .trim()
    .split(/;\s*/)
    .map((entry): [string, OtherFlag] => {
      const [name = '', minors = '-'] = entry.split(' ')
      const [since = '', until = ''] = minors.split('-')
      return [
        name.replace('!', ''),
        {
          kind: name.endsWith('!') ? 'bool' : 'text',
          since: since === '' ? 0 : Number(since),
          until: until === '' ? Number.POSITIVE_INFINITY : Number(until),
        },
      ]
    }),
)

// Every setting of a kubelet of 1.37 is exactly one of: honoured, without effect and harmless, or not honoured and said so
// at the start. The names are upstream's, written down here so that a field of a later release cannot be overlooked.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configDocs, leavesOf } from '../../scripts/config-docs.js'
import { keelson, load, problems, version, warnings } from '../../test/support/config-inputs.js'
import { fieldAt } from './field-at.js'
import { type FlagRow, flagTable, otherFlags } from './flag-table.js'
import { keelsonSchema } from './keelson-schema.js'
import { kubeletSchema } from './kubelet-schema.js'
import { loadConfig } from './load.js'

const words = (text: string): string[] => text.trim().split(/\s+/)

/** KubeletConfiguration v1beta1 of Kubernetes 1.37. */
const upstreamFields = words(`
  address allowedUnsafeSysctls authentication.anonymous.enabled authentication.webhook.cacheTTL
  authentication.webhook.enabled authentication.x509.clientCAFile authorization.mode
  authorization.webhook.cacheAuthorizedTTL authorization.webhook.cacheUnauthorizedTTL cgroupDriver cgroupRoot
  cgroupsPerQOS clusterDNS clusterDomain configMapAndSecretChangeDetectionStrategy containerLogMaxFiles
  containerLogMaxSize containerLogMaxWorkers containerLogMonitorInterval containerRuntimeEndpoint contentType
  cpuCFSQuota cpuCFSQuotaPeriod cpuManagerPolicy cpuManagerPolicyOptions cpuManagerReconcilePeriod
  crashLoopBackOff.maxContainerRestartPeriod defaultPodSysctls enableContentionProfiling
  enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers enableProfilingHandler enableServer
  enableSystemLogHandler enableSystemLogQuery enforceNodeAllocatable eventBurst eventRecordQPS evictionHard
  evictionMaxPodGracePeriod evictionMinimumReclaim evictionPressureTransitionPeriod evictionSoft
  evictionSoftGracePeriod failCgroupV1 failSwapOn featureGates fileCheckFrequency hairpinMode healthzBindAddress
  healthzPort httpCheckFrequency imageGCHighThresholdPercent imageGCLowThresholdPercent imageMaximumGCAge
  imageMinimumGCAge imagePullCredentialsVerificationPolicy imageServiceEndpoint iptablesDropBit
  iptablesMasqueradeBit kernelMemcgNotification kubeAPIBurst kubeAPIQPS kubeReserved kubeReservedCgroup
  kubeletCgroups localStorageCapacityIsolation logging.flushFrequency logging.format
  logging.options.json.infoBufferSize logging.options.json.splitStream logging.options.text.infoBufferSize
  logging.options.text.splitStream logging.verbosity logging.vmodule makeIPTablesUtilChains maxOpenFiles
  maxParallelImagePulls maxPods memoryManagerPolicy memoryReservationPolicy memorySwap.swapBehavior
  memoryThrottlingFactor mergeDefaultEvictionSettings nodeLeaseDurationSeconds nodeStatusMaxImages
  nodeStatusReportFrequency nodeStatusUpdateFrequency oomScoreAdj podCIDR podLogsDir podPidsLimit podsPerCore port
  preloadedImagesVerificationAllowlist protectKernelDefaults providerID qosReserved readOnlyPort registerNode
  registerWithTaints registryBurst registryPullQPS reservedMemory reservedSystemCPUs resolvConf rotateCertificates
  runOnce runtimeRequestTimeout seccompDefault serializeImagePulls serverTLSBootstrap showHiddenMetricsForVersion
  shutdownGracePeriod shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods singleProcessOOMKill
  staticPodPath staticPodURL staticPodURLHeader streamingConnectionIdleTimeout syncFrequency systemCgroups
  systemReserved systemReservedCgroup tlsCertFile tlsCipherSuites tlsCurvePreferences tlsMinVersion
  tlsPrivateKeyFile topologyManagerPolicy topologyManagerPolicyOptions topologyManagerScope tracing.endpoint
  tracing.samplingRatePerMillion userNamespaces.idsPerPod volumePluginDir volumeStatsAggPeriod
`)

/** `kubelet --help` of Kubernetes 1.37 on Linux. */
const upstreamFlags = words(`
  address allowed-unsafe-sysctls anonymous-auth authentication-token-webhook authentication-token-webhook-cache-ttl
  authorization-mode authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl
  bootstrap-kubeconfig cert-dir cgroup-driver cgroup-root cgroups-per-qos client-ca-file cloud-provider cluster-dns
  cluster-domain config config-dir container-log-max-files container-log-max-size container-runtime-endpoint
  contention-profiling cpu-cfs-quota cpu-cfs-quota-period cpu-manager-policy cpu-manager-policy-options
  cpu-manager-reconcile-period enable-controller-attach-detach enable-debugging-handlers enable-server
  enforce-node-allocatable event-burst event-qps eviction-hard eviction-max-pod-grace-period
  eviction-minimum-reclaim eviction-pressure-transition-period eviction-soft eviction-soft-grace-period
  exit-on-lock-contention experimental-allocatable-ignore-eviction experimental-mounter-path fail-cgroupv1
  fail-swap-on feature-gates file-check-frequency hairpin-mode healthz-bind-address healthz-port help
  hostname-override housekeeping-interval http-check-frequency image-credential-provider-bin-dir
  image-credential-provider-config image-gc-high-threshold image-gc-low-threshold image-service-endpoint
  kernel-memcg-notification kube-api-burst kube-api-content-type kube-api-qps kube-reserved kube-reserved-cgroup
  kubeconfig kubelet-cgroups local-storage-capacity-isolation lock-file log-flush-frequency
  log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format
  make-iptables-util-chains manifest-url manifest-url-header max-open-files max-pods maximum-dead-containers
  maximum-dead-containers-per-container memory-manager-policy minimum-container-ttl-duration
  minimum-image-ttl-duration node-ip node-labels node-status-max-images node-status-update-frequency oom-score-adj
  pod-cidr pod-manifest-path pod-max-pids pods-per-core port protect-kernel-defaults provider-id qos-reserved
  read-only-port register-node register-with-taints registry-burst registry-qps reserved-cpus reserved-memory
  resolv-conf root-dir rotate-certificates rotate-server-certificates runonce runtime-cgroups
  runtime-request-timeout seccomp-default serialize-image-pulls streaming-connection-idle-timeout sync-frequency
  system-cgroups system-reserved system-reserved-cgroup tls-cert-file tls-cipher-suites tls-min-version
  tls-private-key-file topology-manager-policy topology-manager-policy-options topology-manager-scope v version
  vmodule volume-plugin-dir volume-stats-agg-period
`)

/** Only releases before 1.37 have it. */
const oldFields = ['logging.sanitization']
const ourFlags = ['keelson-config', 'kubernetes-version', 'profile', 'strict']
/** Answered before anything else. */
const askingFlags = ['help', 'version']

const leaves = leavesOf(kubeletSchema)
const rows: Readonly<Record<string, FlagRow>> = flagTable

test('every field of the release is there once, and no other', () => {
  const paths = leaves.map(({ path }) => path)
  expect(paths.sort()).toEqual([...upstreamFields, ...oldFields].sort())
  expect(leaves.filter(({ since = 0 }) => since > 37)).toEqual([])
})

test('every flag of the release is there once, and no other', () => {
  const known = [...otherFlags].filter(([, { since, until }]) => since <= 37 && 37 <= until)
  const names = [...Object.keys(rows), ...known.map(([name]) => name), ...askingFlags]
  expect(names.sort()).toEqual([...upstreamFlags, ...ourFlags].sort())
})

test('a flag that sets a field sets one that exists', () => {
  for (const [name, { field }] of Object.entries(rows))
    if (field !== undefined) expect(fieldAt(kubeletSchema, field), name).toBeDefined()
})

test('what is not honoured has words for what does not happen and what to do, what is harmless has a reason', () => {
  for (const { effect } of [...leaves.map(({ field }) => field), ...otherFlags.values()])
    if (effect.kind === 'missing') expect([effect.what, effect.remedy].every((w) => w.length > 10)).toBe(true)
    else if (effect.kind === 'harmless') expect(effect.why.length).toBeGreaterThan(10)
})

test('docs/config.md names every field and every flag once in its tables', () => {
  const page = configDocs()
  const cells = (pattern: RegExp): string[] => [...page.matchAll(pattern)].map(([, name = '']) => name).sort()
  expect(cells(/^\| `([a-zA-Z.0-9]+)`/gm)).toEqual(
    expect.arrayContaining([...upstreamFields, ...oldFields].sort()),
  )
  for (const flag of upstreamFlags.filter((f) => !askingFlags.includes(f)))
    expect([...page.matchAll(new RegExp(`^\\|.*\`--${flag}\`.*\\|.*\\|`, 'gm'))], flag).toHaveLength(1)
})

describe('what is called honoured is read by some code', () => {
  /** Where settings are only named. */
  const tables = /config\/(kubelet-schema|keelson-schema|upstream-fields|flag-table|docs)\.ts$|\.test\.ts$/
  const root = join(import.meta.dirname, '..')
  const code = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !tables.test(file))
    .map((file) =>
      readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|"[^"\n]*"/gm, ''),
    )
    .join('\n')
  for (const { path, field } of [...leaves, ...leavesOf(keelsonSchema)]) {
    if (field.effect.kind !== 'honoured') continue
    test(path, () => {
      const name = path.split('.').at(-1) ?? ''
      expect(new RegExp(`[.{,\\s]${name}\\b`).test(code)).toBe(true)
    })
  }
})

describe('settings that are not honoured', () => {
  const notHonoured = (text: string, flags: readonly string[] = []) =>
    load(text, { flags, ...version('1.37') }).warnings.filter((w) => w.id === 'not-honoured')

  test('staticPodURL in a file: named with line, what does not happen, and the remedy', () => {
    expect(warnings('staticPodURL: http://127.0.0.1/pods\n')).toEqual([
      expect.stringMatching(
        /^staticPodURL: is not supported: pods of this URL are not run; put .* \(\/etc\/k\.yaml:3\)$/,
      ),
    ])
  })

  test('by a flag: the same, and named by the flag', () => {
    const found = notHonoured('', [
      '--manifest-url=http://127.0.0.1/',
      '--reserved-cpus=0-1',
      '--lock-file=/x',
    ])
    expect(found.map((w) => [w.path, w.origin])).toEqual([
      ['', { from: 'flag', flag: '--lock-file' }],
      ['reservedSystemCPUs', { from: 'flag', flag: '--reserved-cpus' }],
      ['staticPodURL', { from: 'flag', flag: '--manifest-url' }],
    ])
  })

  test('in a drop-in: the same', () => {
    const drop = new TextEncoder().encode(
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nqosReserved: {memory: "50%"}\n',
    )
    const { warnings: found } = loadConfig({
      dropIns: [{ path: '10-a.conf', bytes: drop }],
      ...version('1.36'),
    })
    expect(found).toEqual([
      expect.objectContaining({
        id: 'not-honoured',
        path: 'qosReserved',
        origin: { from: 'drop-in', path: '10-a.conf', line: 3 },
      }),
    ])
  })

  test('the defaults say nothing, nor do values that ask for nothing', () => {
    expect(notHonoured('')).toEqual([])
    for (const quiet of [
      'evictionHard: {}',
      'evictionHard: {memory.available: 0%, nodefs.available: "0"}',
      'evictionSoft: {}',
      'shutdownGracePeriod: 0s',
      'imageMaximumGCAge: 0s',
      'imageGCHighThresholdPercent: 100',
      'cpuManagerPolicy: none',
      'memoryManagerPolicy: None',
      'topologyManagerPolicy: ""',
      'rotateCertificates: false',
      'localStorageCapacityIsolation: false',
      'reservedSystemCPUs: ""',
      'qosReserved: {}',
      'shutdownGracePeriodByPodPriority: []',
      'evictionSoft: null',
    ])
      expect(notHonoured(quiet), quiet).toEqual([])
  })

  for (const asked of [
    'cpuManagerPolicy: static',
    'memoryManagerPolicy: Static',
    'topologyManagerPolicy: restricted',
    'reservedSystemCPUs: 0-1',
    'qosReserved: {memory: 50%}',
    'defaultPodSysctls: {net.ipv4.ip_forward: "0"}',
    'staticPodURL: http://127.0.0.1/pods',
    'runOnce: true',
  ])
    test(`${asked} is named at the start`, () =>
      expect(notHonoured(asked).map((w) => w.path)).toEqual([asked.split(':')[0]]))

  test('they are kept, for /configz', () => {
    expect(load('staticPodURL: http://127.0.0.1/pods').config.document).toMatchObject({
      staticPodURL: 'http://127.0.0.1/pods',
    })
  })
})

describe('settings without effect', () => {
  test('each is named with the reason, a zero value is not', () => {
    expect(warnings('podCIDR: 10.0.0.0/24\nnodeStatusReportFrequency: 0s\nkubeAPIQPS: 0\n')).toEqual([
      'podCIDR: has no effect: pod addresses are assigned by the CNI plugins of the runtime (/etc/k.yaml:3)',
    ])
  })

  test('a typo below a group of them is an unknown key', () => {
    expect(warnings('crashLoopBackOff: {maxContainerRestartPeriode: 1m}', keelsonNow)).toEqual([
      expect.stringMatching(/crashLoopBackOff\.maxContainerRestartPeriode: unknown key; did you mean/),
    ])
    expect(problems('tracing: {endpont: x}', { ...keelsonNow, strict: true })).toHaveLength(1)
  })
})

const keelsonNow = { keelson: keelson('kubernetesVersion: "1.36"\n') }

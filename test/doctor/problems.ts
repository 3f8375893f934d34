// For each check, nodes on which it must find something: what is taken from the sound node, and what must be said.
import { loadConfig } from '../../src/config/load.js'
import { decideSocketFindings } from '../../src/doctor/socket-places.js'
import { clusterProblems } from './cluster-problems.js'
import {
  activity,
  ancestors,
  cgroups,
  container,
  containerId,
  healthy,
  kubelet,
  loadedWith,
  MiB,
  podCgroup,
  podPath,
  runtimeFacts,
} from './healthy.js'
import { type Problem, problem } from './problem.js'

const { host, machine, sockets } = healthy()
if (machine === undefined || sockets === undefined) throw new Error('the sound node has these')
const pods = (...list: ReturnType<typeof container>[]) => cgroups({ pods: [...ancestors(), ...list] })
const old = { name: 'containerd', version: '1.6.20~ds1', runtimeConfig: 'unimplemented' } as const
const throttled = { current: 189n * MiB, highEvents: 40n, fullAvg10: 7.5, cpuMicros: 1_500_000n }
const stuckBefore = activity({ current: 189n * MiB, highEvents: 40n, fullAvg10: 40 })
const stuckAfter = activity({ current: 189n * MiB, highEvents: 55n, fullAvg10: 42, cpuMicros: 1_000_100n })
const contradicting = {
  ...sockets.places,
  config: { place: 'config.yaml', endpoint: 'unix:///run/crio/crio.sock' },
}

export const problems: readonly Problem[] = [
  problem('cgroup-v2', 'cgroup v1 with 1.36', 'error', /uses cgroup v1/, {
    host: { ...host, cgroupV2: false },
  }),
  problem('cgroup-v2', 'cgroup v1 with 1.34', 'warn', /uses cgroup v1/, {
    host: { ...host, cgroupV2: false },
    version: { minor: 34, patch: undefined },
  }),
  problem('controllers', 'no memory controller', 'error', /memory are missing/, {
    cgroups: cgroups({ controllers: ['cpu', 'pids'] }),
  }),
  problem('controllers', 'disabled in the pod tree', 'error', /disabled in the pod tree/, {
    cgroups: cgroups({ podControllers: ['cpu', 'pids'] }),
  }),
  problem('controllers', 'no cpuset in this kernel', 'info', /no cpuset \(CPU pinning\)/, {
    cgroups: cgroups({ controllers: ['cpu', 'io', 'memory', 'pids', 'hugetlb'] }),
  }),
  problem('kernel', 'kernel 5.4', 'warn', /older than 5\.9/, {
    host: { ...host, kernelRelease: '5.4.0-150' },
  }),
  problem('psi', 'no PSI', 'info', /does not report pressure/, { machine: { ...machine, psi: false } }),
  problem('swap', 'swap and failSwapOn', 'error', /does not start/, {
    machine: { ...machine, swapBytes: MiB },
  }),
  problem('swap', 'swap that pods may use', 'info', /may swap/, {
    machine: { ...machine, swapBytes: MiB },
    kubelet: kubelet({ loaded: loadedWith('failSwapOn: false\nmemorySwap: {swapBehavior: LimitedSwap}\n') }),
  }),
  problem('runtime-answers', 'dead socket', 'error', /no runtime responds/, {
    endpointAnswers: false,
    runtime: undefined,
    runtimeFacts: undefined,
  }),
  problem('runtime-answers', 'too slow', 'warn', /did not respond in time/, {
    runtimeLate: true,
    runtime: undefined,
    runtimeFacts: undefined,
  }),
  problem('runtime-answers', 'another protocol', 'error', /does not implement CRI v1/, {
    runtime: undefined,
    runtimeFacts: undefined,
  }),
  problem('runtime-status', 'not ready', 'error', /not ready/, {
    runtimeFacts: runtimeFacts({ conditions: [{ type: 'RuntimeReady', status: false, message: 'x' }] }),
  }),
  problem('runtime-status', 'no network', 'warn', /no pod network/, {
    runtimeFacts: runtimeFacts({ conditions: [{ type: 'NetworkReady', status: false, message: '' }] }),
  }),
  problem('several-runtimes', 'containerd and CRI-O', 'warn', /several runtimes/, { listening: ['a', 'b'] }),
  problem('runtime-config', 'containerd 1.6', 'warn', /does not implement RuntimeConfig/, { runtime: old }),
  problem('runtime-support', 'containerd 1.6 before the end', 'warn', /loses support with Kubernetes 1\.37/, {
    runtime: old,
  }),
  problem('runtime-support', 'upstream gives it one more release', 'warn', /with Kubernetes 1\.38/, {
    runtime: old,
    kubelet: kubelet({ loaded: loadedWith('', { flags: ['--profile=upstream'] }) }),
  }),
  problem('runtime-support', 'containerd 1.6 at the end', 'error', /1\.37 refuses/, {
    runtime: old,
    version: { minor: 37, patch: undefined },
  }),
  problem('unified-support', 'containerd 1.5', 'error', /does not support the unified map/, {
    runtime: { ...old, version: '1.5.9' },
  }),
  problem('unified-support', 'values that did not arrive', 'warn', /did not write 1 of 2/, {
    cgroups: pods(container({ high: 'max' })),
  }),
  problem('unified-support', 'values changed since', 'info', /changed after/, {
    cgroups: pods(container({ high: 100n * MiB })),
  }),
  problem('metrics', 'no metrics, gate off', 'info', /PodAndContainerStatsFromCRI is off/, {
    runtimeFacts: runtimeFacts({ descriptors: { kind: 'unimplemented' } }),
  }),
  problem('metrics', 'no metrics, gate on', 'warn', /does not implement CRI metrics/, {
    runtimeFacts: runtimeFacts({ descriptors: { kind: 'unimplemented' } }),
    kubelet: kubelet({
      loaded: loadedWith('', { flags: ['--feature-gates=PodAndContainerStatsFromCRI=true'] }),
    }),
  }),
  problem('metrics', 'some are missing', 'warn', /lacks 1 required/, {
    runtimeFacts: runtimeFacts({
      descriptors: {
        kind: 'listed',
        names: healthyNames().filter((n) => n !== 'container_memory_rss'),
      },
    }),
    kubelet: kubelet({
      loaded: loadedWith('', { flags: ['--feature-gates=PodAndContainerStatsFromCRI=true'] }),
    }),
  }),
  problem('runtime-values', 'known defects, gate off', 'info', /known to report \d+ wrong values/, {
    runtimeFacts: runtimeFacts({ criServer: undefined }),
  }),
  problem('runtime-values', 'known defects, gate on', 'warn', /wrong values, which a kubelet .* serves/, {
    runtimeFacts: runtimeFacts({ criServer: undefined }),
    kubelet: kubelet({
      loaded: loadedWith('', { flags: ['--feature-gates=PodAndContainerStatsFromCRI=true'] }),
    }),
  }),
  problem('runtime-values', 'a server that passes them on', 'warn', /keelson cri passes them on/, {
    runtimeFacts: runtimeFacts({ criServer: { values: 'trust', repaired: {} } }),
  }),
  problem('sockets', 'two files name two sockets', 'warn', /names .*crio\.sock/, {
    sockets: {
      ...sockets,
      places: contradicting,
      findings: decideSocketFindings(contradicting, 'unix:///run/crio/crio.sock', {
        answers: true,
        denied: false,
      }),
    },
  }),
  problem('stale-endpoint-flag', 'flag beside the instance file', 'warn', /overrides config\.yaml/, {
    staleFlag: 'unix:///run/crio/crio.sock',
  }),
  problem('config', 'a misspelt key', 'error', /memoryThrottlingFacter/, {
    kubelet: kubelet({ loaded: loadedWith('memoryThrottlingFacter: 0.9\n') }),
  }),
  problem('config', 'a value that cannot be', 'error', /memoryThrottlingFactor/, {
    kubelet: kubelet({ loaded: loadedWith('memoryThrottlingFactor: 7\n') }),
  }),
  problem('config', 'a file that cannot be read', 'error', /invalid configuration/, {
    kubelet: kubelet({ unreadable: 'read /x: no such file' }),
  }),
  ...clusterProblems,
  problem('kubelet-skew', 'kubelet of tomorrow', 'error', /newer than/, {
    host: { ...host, kubeletVersion: 'v1.37.0' },
  }),
  ...(
    [
      ['everything allowed', 'error', /CIS 4\.2\.2/, 'authorization: {mode: AlwaysAllow}\n'],
      ['read-only port', 'error', /CIS 4\.2\.4/, 'readOnlyPort: 10255\n'],
      ['iptables chains off', 'warn', /CIS 4\.2\.6/, 'makeIPTablesUtilChains: false\n'],
      ['certificates not renewed', 'warn', /CIS 4\.2\.10/, 'rotateCertificates: false\n'],
    ] as const
  ).map(([name, severity, says, fields]) =>
    problem('kubelet-auth', name, severity, says, {
      kubelet: kubelet({ loaded: loadedWith(fields) }),
    }),
  ),
  problem('kubelet-auth', 'anonymous callers', 'error', /CIS 4\.2\.1/, {
    kubelet: kubelet({ loaded: loadedWith('', { flags: ['--anonymous-auth=true'] }) }),
  }),
  problem('kubelet-auth', 'no client CA', 'warn', /CIS 4\.2\.3/, {
    kubelet: kubelet({ loaded: loadConfig({ flags: ['--pod-max-pids=4096'] }) }),
  }),
  problem('kubelet-ports', 'pods for everybody', 'error', /without credentials/, {
    kubelet: kubelet({
      ports: [{ what: 'kubelet', address: '127.0.0.1', port: 10250, tls: true, path: '/pods', answer: 200 }],
    }),
  }),
  problem('kubelet-ports', 'read-only port open', 'error', /read-only port 10255 is open/, {
    kubelet: kubelet({
      ports: [
        { what: 'read-only', address: '127.0.0.1', port: 10255, tls: false, path: '/pods', answer: 200 },
      ],
    }),
  }),
  problem('kubelet-ports', 'not healthy', 'warn', /not healthy/, {
    kubelet: kubelet({
      ports: [
        { what: 'healthz', address: '127.0.0.1', port: 10248, tls: false, path: '/healthz', answer: 500 },
      ],
    }),
  }),
  problem('kubelet-files', 'a token for everybody', 'error', /other users have access/, {
    kubelet: kubelet({ files: [{ path: '/var/lib/keelson/token', mode: 0o644, uid: 0 }] }),
  }),
  problem('kubelet-files', 'somebody else owns it', 'error', /is owned by user 1000/, {
    kubelet: kubelet({ files: [{ path: '/var/lib/kubelet/config.yaml', mode: 0o600, uid: 1000 }] }),
  }),
  problem('cgroup-driver', 'pods prove another driver', 'error', /cgroups of cgroupfs/, {
    runtimeFacts: runtimeFacts({ driver: { kind: 'driver', driver: 'systemd' } }),
    machine: { ...machine, systemd: true },
  }),
  problem('cgroup-driver', 'cgroupfs on a systemd host', 'warn', /two managers/, {
    machine: { ...machine, systemd: true },
  }),
  problem('cgroup-driver', 'a driver of the future', 'error', /unknown cgroup driver 7/, {
    runtimeFacts: runtimeFacts({ driver: { kind: 'unknown-driver', value: 7 } }),
  }),
  problem('cgroup-driver', 'systemd without systemd', 'error', /systemd is not running/, {
    runtimeFacts: runtimeFacts({ driver: { kind: 'driver', driver: 'systemd' }, sandboxes: [] }),
  }),
  problem('leftover-pod-tree', 'old systemd tree', 'info', /kubepods\.slice has no processes/, {
    cgroups: cgroups({
      podTrees: { cgroupfs: '/kubepods', systemd: '/kubepods.slice' },
      pods: [...ancestors(), podCgroup('/kubepods.slice', { populated: false, min: 0n })],
    }),
  }),
  problem('capacity', 'promised more than there is', 'error', /exceed allocatable memory/, {
    cgroups: cgroups({ pods: ancestors({ min: 4096n * MiB }) }),
  }),
  problem('capacity', 'reserved more than there is', 'error', /reserve/, {
    kubelet: kubelet({ loaded: loadedWith('kubeReserved: {memory: 3Gi}\n') }),
  }),
  problem('capacity', 'hardly anything left to reclaim', 'warn', /more than 90 %/, {
    cgroups: cgroups({ topLevel: [{ path: '/kubepods', min: 2000n * MiB }] }),
  }),
  problem(
    'eviction',
    'as much protected as there is before eviction',
    'warn',
    /memory\.min protects 2040Mi/,
    {
      cgroups: cgroups({ pods: ancestors({ min: 2040n * MiB }) }),
    },
  ),
  problem('eviction', 'throttled later than evicted', 'warn', /is evicted before it is throttled/, {
    cgroups: cgroups({ pods: [...ancestors(), container({ high: 2000n * MiB })] }),
  }),
  problem(
    'protection-chain',
    'kubepods has none',
    'error',
    /no effect, because \/kubepods has memory\.min=0/,
    {
      cgroups: cgroups({
        pods: [podCgroup('/kubepods', { min: 0n }), ...ancestors().slice(1), container({ min: 64n * MiB })],
      }),
    },
  ),
  problem('protection-chain', 'siblings claim more than the pod has', 'warn', /only a part/, {
    cgroups: cgroups({
      pods: [
        ...ancestors({ after: activity({ current: 120n * MiB }) }),
        container(),
        podCgroup(`${podPath}/${'d'.repeat(64)}`, { containerId: 'd'.repeat(64) }),
      ],
    }),
  }),
  problem('protection-chain', 'old mount options', 'info', /memory_recursiveprot/, {
    cgroups: cgroups({ recursiveProtection: false }),
  }),
  problem('stale-values', 'gate off, values left', 'warn', /still ha(s|ve) its values/, {
    kubelet: kubelet({ loaded: loadedWith('', { flags: ['--feature-gates=MemoryQoS=false'] }) }),
  }),
  problem('throttling', 'PSI above 5', 'warn', /^1 container is throttled significantly/, {
    cgroups: pods(container({ after: activity(throttled) })),
  }),
  problem('throttling', 'no PSI, events rise at the threshold', 'warn', /throttled significantly/, {
    cgroups: pods(
      container({
        before: activity({ fullAvg10: undefined }),
        after: activity({ ...throttled, fullAvg10: undefined }),
      }),
    ),
  }),
  problem('throttling', 'within 5 % of memory.high', 'info', /^1 container is within 5 %/, {
    cgroups: pods(container({ after: activity({ current: 185n * MiB, cpuMicros: 1_500_000n }) })),
  }),
  problem(
    'livelock',
    'no CPU, events rise, PSI above 10',
    'error',
    /^1 container makes no progress: throttled at memory.high/,
    {
      cgroups: pods(container({ before: stuckBefore, after: stuckAfter })),
    },
  ),
  problem(
    'livelock',
    'without PSI the other two signs',
    'error',
    /^1 container makes no progress: throttled at memory.high/,
    {
      cgroups: pods(
        container({
          before: { ...stuckBefore, fullAvg10: undefined },
          after: { ...stuckAfter, fullAvg10: undefined },
        }),
      ),
      host: { ...host, kernelRelease: '5.4.0' },
    },
  ),
  problem('oom-kills', 'one a moment ago', 'warn', /OOM kills are happening now/, {
    cgroups: pods(container({ after: activity({ oomKills: 1n }) })),
  }),
  problem('oom-kills', 'one long ago', 'info', /have had OOM kills/, {
    cgroups: pods(container({ before: activity({ oomKills: 1n }), after: activity({ oomKills: 1n }) })),
  }),
]

function healthyNames(): readonly string[] {
  const { descriptors } = runtimeFacts()
  return descriptors.kind === 'listed' ? descriptors.names : []
}

/** Nodes that come close to a finding and must not be called ill. */
export const innocents: readonly Omit<Problem, 'severity' | 'says'>[] = [
  {
    check: 'livelock',
    name: 'throttled, but it gets on',
    facts: healthy({
      cgroups: pods(container({ before: stuckBefore, after: { ...stuckAfter, cpuMicros: 1_400_000n } })),
    }),
  },
  {
    check: 'livelock',
    name: 'idle, and no event',
    facts: healthy({
      cgroups: pods(container({ before: stuckBefore, after: { ...stuckAfter, highEvents: 40n } })),
    }),
  },
  {
    check: 'livelock',
    name: 'pressure that is not sustained',
    facts: healthy({
      cgroups: pods(container({ before: { ...stuckBefore, fullAvg10: 3 }, after: stuckAfter })),
    }),
  },
  {
    check: 'throttling',
    name: 'PSI at 5 exactly',
    facts: healthy({
      cgroups: pods(container({ after: activity({ fullAvg10: 5, cpuMicros: 1_500_000n }) })),
    }),
  },
  {
    check: 'unified-support',
    name: 'the kernel floors to pages',
    facts: healthy({
      runtimeFacts: runtimeFacts({
        containers: [{ id: containerId, name: 'x', unified: { 'memory.high': String(190n * MiB + 17n) } }],
      }),
    }),
  },
]

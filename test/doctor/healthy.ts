// Facts of a sound node, from which each test takes one thing away. Values are those of a small lab node.
import { type ConfigInput, loadConfig } from '../../src/config/load.js'
import type { ClusterFacts } from '../../src/doctor/cluster-facts.js'
import type { CgroupFacts, DoctorFacts, KubeletFacts, RuntimeFacts } from '../../src/doctor/facts.js'
import type { Activity, PodCgroup } from '../../src/doctor/pod-cgroup.js'
import type { SocketPlace } from '../../src/doctor/socket-places.js'
import { requiredMetrics } from '../../src/stats/catalogue/required.js'

export const MiB = 1024n * 1024n
export const endpoint = 'unix:///run/containerd/containerd.sock'

const text = new TextEncoder()

export const loadedWith = (fields: string, input: ConfigInput = {}) =>
  loadConfig({
    ...input,
    kubelet: {
      path: '/var/lib/kubelet/config.yaml',
      bytes: text.encode(
        `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfeatureGates: {MemoryQoS: true}\npodPidsLimit: 4096\nauthentication: {x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}}\n${fields}`,
      ),
    },
  })

export const activity = (over: Partial<Activity> = {}): Activity => ({
  current: 60n * MiB,
  highEvents: 0n,
  oomKills: 0n,
  cpuMicros: 1_000_000n,
  fullAvg10: 0,
  ...over,
})

export const containerId = 'c'.repeat(64)
export const podPath = '/kubepods/burstable/pod1'
export const containerPath = `${podPath}/${containerId}`

export const podCgroup = (path: string, over: Partial<PodCgroup> = {}): PodCgroup => {
  const parent = path.slice(0, path.lastIndexOf('/'))
  return {
    path,
    parent: parent === '' ? undefined : parent,
    containerId: undefined,
    min: 64n * MiB,
    low: 0n,
    high: 'max',
    max: 'max',
    populated: true,
    before: activity(),
    after: activity({ cpuMicros: 1_300_000n }),
    ...over,
  }
}

export const container = (over: Partial<PodCgroup> = {}): PodCgroup =>
  podCgroup(containerPath, { containerId, high: 190n * MiB, max: 200n * MiB, ...over })

export const ancestors = (over: Partial<PodCgroup> = {}): PodCgroup[] =>
  ['/kubepods', '/kubepods/burstable', podPath].map((path) => podCgroup(path, over))

export const cgroups = (over: Partial<CgroupFacts> = {}): CgroupFacts => ({
  mode: 'v2',
  controllers: ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'],
  podControllers: ['cpuset', 'cpu', 'io', 'memory', 'hugetlb', 'pids'],
  recursiveProtection: true,
  topLevel: [{ path: '/kubepods', min: 64n * MiB }],
  pods: [...ancestors(), container()],
  podTrees: { cgroupfs: '/kubepods', systemd: undefined },
  intervalMs: 700,
  ...over,
})

export const runtimeFacts = (over: Partial<RuntimeFacts> = {}): RuntimeFacts => ({
  driver: { kind: 'driver', driver: 'cgroupfs' },
  conditions: [
    { type: 'RuntimeReady', status: true, message: '' },
    { type: 'NetworkReady', status: true, message: '' },
  ],
  handlers: [{ name: 'runc', isDefault: true, driver: 'cgroupfs' }],
  sandboxes: [{ id: 'a'.repeat(64), pod: 'default/web', path: `${podPath}/${'a'.repeat(64)}` }],
  populated: { cgroupfs: true, systemd: false },
  containers: [
    {
      id: containerId,
      name: 'default/web/app',
      unified: { 'memory.min': String(64n * MiB), 'memory.high': String(190n * MiB) },
    },
  ],
  descriptors: { kind: 'listed', names: requiredMetrics },
  criServer: { values: 'repair', repaired: { 'limit-as-peak': 2 } },
  ...over,
})

export const kubelet = (over: Partial<KubeletFacts> = {}): KubeletFacts => ({
  process: { pid: 812, kind: 'upstream', args: [], cwd: '/' },
  loaded: loadedWith(''),
  source: 'process 812',
  unreadable: undefined,
  ports: [
    { what: 'kubelet', address: '127.0.0.1', port: 10250, tls: true, path: '/pods', answer: 401 },
    { what: 'read-only', address: '127.0.0.1', port: 10255, tls: false, path: '/pods', answer: 'closed' },
    { what: 'healthz', address: '127.0.0.1', port: 10248, tls: false, path: '/healthz', answer: 200 },
  ],
  files: [{ path: '/var/lib/kubelet/config.yaml', mode: 0o600, uid: 0 }],
  ...over,
})

const place = (name: string, at: string | undefined = undefined): SocketPlace => ({
  place: name,
  endpoint: at,
})

const nowMs = Date.UTC(2026, 0, 10)
const dayMs = 86_400_000

/** A node that its cluster knows well. */
export const cluster = (over: Partial<ClusterFacts> = {}): ClusterFacts => ({
  kubeconfig: '/etc/kubernetes/kubelet.conf',
  server: 'https://10.0.0.1:6443',
  problem: undefined,
  certificate: { notBeforeMs: nowMs - 10 * dayMs, notAfterMs: nowMs + 355 * dayMs },
  rotates: true,
  nowMs,
  skewMs: 400,
  nodeName: 'node-1',
  node: { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }] } },
  lease: { spec: { renewTime: new Date(nowMs - 4000).toISOString(), leaseDurationSeconds: 40 } },
  ...over,
})

export const healthy = (over: Partial<DoctorFacts> = {}): DoctorFacts => ({
  version: { minor: 36, patch: undefined },
  host: {
    os: 'linux',
    hostname: 'node-1',
    kernelRelease: '6.1.0-18-amd64',
    cgroupV2: true,
    kubeletVersion: 'v1.36.1',
    privileged: true,
  },
  machine: { memoryBytes: 2048n * MiB, swapBytes: 0n, pageSize: 4096n, psi: true, systemd: false },
  cgroups: cgroups(),
  endpoint,
  endpointAnswers: true,
  endpointDenied: false,
  runtimeLate: false,
  runtime: { name: 'containerd', version: '2.0.0', runtimeConfig: 'known' },
  runtimeFacts: runtimeFacts(),
  listening: [endpoint],
  staleFlag: undefined,
  sockets: {
    places: {
      flag: place('kubeadm-flags.env'),
      instance: place('instance-config.yaml', endpoint),
      config: place('config.yaml', endpoint),
      annotation: place('annotation'),
      running: place('running kubelet'),
    },
    listening: [endpoint],
    wins: { endpoint, place: 'config.yaml', why: 'no flag is set', answers: true },
    findings: [],
  },
  kubelet: kubelet(),
  cluster: cluster(),
  ...over,
})

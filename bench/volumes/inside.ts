// Runs inside a cluster's node environment: starts the pods, waits until the bench says so, measures the kubelet at rest, counts
// its watches at the API server, and changes a config map. Prints its results as one line of JSON.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { insideAdmin } from '../../conformance/cluster/plan.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import type { KubePod } from '../../src/core/kube/objects.js'
import type { KubeApi } from '../../src/ports/kube-api.js'
import type { Log } from '../../src/ports/log.js'
import { usageOf } from '../process-usage.js'
import type { VolumesResult } from './result.js'

const [count = '', measureSeconds = '', goFile = ''] = process.argv.slice(2)
const base = '/api/v1/namespaces/default'
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quiet }
const options = { signal: new AbortController().signal }
const API_PORT = 6443
const RUNNING_MS = 600_000
const FILE_MS = 120_000

const token = { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }
const pod = (i: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `pod-${i}`, labels: { number: `n${i}` } },
  spec: {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'app',
        image,
        command: ['sleep', '1000000'],
        resources: { requests: { cpu: '1m', memory: '4Mi' } },
        volumeMounts: ['map', 'secret', 'fields', 'token', 'empty'].map((name) => ({
          name,
          mountPath: `/${name}`,
        })),
      },
    ],
    volumes: [
      { name: 'map', configMap: { name: `map-${i}` } },
      { name: 'secret', secret: { secretName: `secret-${i}` } },
      {
        name: 'fields',
        downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
      },
      { name: 'token', projected: { sources: [token] } },
      { name: 'empty', emptyDir: {} },
    ],
  },
})

async function startPods(api: KubeApi): Promise<void> {
  for (let i = 0; i < Number(count); i++) {
    const data = { key: Buffer.from(`value ${i}`).toString('base64') }
    await api.create(`${base}/configmaps`, { metadata: { name: `map-${i}` }, data: { key: 'one' } }, options)
    await api.create(`${base}/secrets`, { metadata: { name: `secret-${i}` }, data }, options)
    await api.create(`${base}/pods`, pod(i), options)
  }
  const end = Date.now() + RUNNING_MS
  for (;;) {
    const items = (await api.list(`${base}/pods`, {}, options)).items as readonly KubePod[]
    const running = items.filter(({ status }) => status?.phase === 'Running').length
    if (running === Number(count)) return
    if (Date.now() > end) throw new Error(`${running} of ${count} pods run`)
    await sleep(2_000)
  }
}

function kubeletPid(): number {
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const words = readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')
      if (words.some((w) => w.startsWith('--config=') && w.endsWith('/kubelet.yaml'))) return Number(entry)
    } catch {
      // It has ended meanwhile.
    }
  throw new Error('no kubelet runs')
}

/** Established TCP connections of a process to the API server. */
function apiConnections(pid: number): number {
  const inodes = new Set<string>()
  for (const fd of readdirSync(`/proc/${pid}/fd`))
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      if (inode !== undefined) inodes.add(inode)
    } catch {
      // Closed meanwhile.
    }
  const remote = `:${API_PORT.toString(16).toUpperCase().padStart(4, '0')}`
  const lines = ['tcp', 'tcp6'].flatMap((name) =>
    readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n'),
  )
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter((f) => f[2]?.endsWith(remote) === true && f[3] === '01' && inodes.has(f[9] ?? '')).length
}

/** Watches of single objects that the API server serves now. */
async function objectWatches(api: KubeApi): Promise<number> {
  const metrics = await api.text('/metrics', options)
  return metrics
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('apiserver_longrunning_requests{') &&
        /resource="(configmaps|secrets)"/.test(line) &&
        line.includes('scope="resource"'),
    )
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

async function changeReaches(api: KubeApi): Promise<number> {
  const { metadata } = (await api.get<KubePod>(`${base}/pods/pod-0`, options)) ?? {}
  const file = `/var/lib/kubelet/pods/${metadata?.uid}/volumes/kubernetes.io~configmap/map/key`
  const begun = Date.now()
  await api.patch(`${base}/configmaps/map-0`, 'merge', { data: { key: 'two' } }, options)
  while (readFileSync(file, 'utf8') !== 'two') {
    if (Date.now() - begun > FILE_MS) throw new Error(`${file} was not changed in ${FILE_MS} ms`)
    await sleep(100)
  }
  return (Date.now() - begun) / 1000
}

const api = await openKubeApi({ kubeconfig: insideAdmin, log: quiet, version: 'bench' })
/** Of the control plane itself. */
const otherWatches = await objectWatches(api)
await startPods(api)
process.stdout.write('pods run\n')
while (
  !(await access(goFile).then(
    () => true,
    () => false,
  ))
)
  await sleep(200)
const pid = kubeletPid()
const before = usageOf(pid)
await sleep(Number(measureSeconds) * 1000)
const after = usageOf(pid)
const result: VolumesResult = {
  cpuS: after.cpuS - before.cpuS,
  rssMiB: after.rssMiB,
  watches: (await objectWatches(api)) - otherWatches,
  connections: apiConnections(pid),
  changeS: await changeReaches(api),
}
process.stdout.write(`result ${JSON.stringify(result)}\n`)
api.close()

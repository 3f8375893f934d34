// The companion out of the shipped image, by the shipped manifests, on a node with real pods: what it needs of the host is there
// (cgroups, runtime, D-Bus, kubelet's certificate, /proc), its values appear, and the rollback restores every original one.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseAllDocuments } from 'yaml'
import { imageReferences } from '../../../src/lab/images/images.js'
import type { Check } from '../../support/check.js'
import { type StandIn, startStandIn } from './cluster-stand-in.js'
import { type Command, commandFromHere, startKeelson } from './lab-kubelet.js'
import { endpoint } from './pod.js'

await commandFromHere()

const manifests = '/etc/kubernetes/manifests'
const serviceAccount = '/tmp/service-account'
const config = '/tmp/companion-config'
const node = 'node-1'

interface ContainerJson {
  readonly name: string
  readonly env?: readonly object[]
  readonly securityContext: object
  readonly volumeMounts?: readonly object[]
}
interface PodSpec {
  readonly containers: readonly ContainerJson[]
  readonly initContainers?: readonly ContainerJson[]
  readonly volumes: readonly { readonly name: string; readonly configMap?: object }[]
}
interface PodItem {
  readonly metadata: { readonly name: string; readonly uid: string }
  readonly status: {
    readonly phase: string
    readonly conditions: readonly { type: string; status: string }[]
  }
}

let kubelet: Command | undefined
let standIn: StandIn | undefined
let first: Record<string, string> = {}

const documents = (variable: string) =>
  parseAllDocuments(process.env[variable] ?? '').map(
    (d) =>
      d.toJS() as { readonly kind: string; readonly data?: Record<string, string>; readonly spec?: unknown },
  )

const podOf = (variable: string): PodSpec => {
  const set = documents(variable).find((d) => d.kind === 'DaemonSet')
  return (set as { readonly spec: { readonly template: { readonly spec: PodSpec } } }).spec.template.spec
}

/** What a static pod cannot say (probes, SELinux, an account, a ConfigMap) as the cluster would have put it there. */
function asStaticPod(spec: PodSpec): object {
  const without = (object: object, ...keys: readonly string[]): object =>
    Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)))
  const token = { name: 'token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true }
  const container = (c: ContainerJson): object => ({
    ...without(c, 'startupProbe', 'readinessProbe', 'livenessProbe'),
    env: [
      ...(c.env ?? []),
      { name: 'KUBERNETES_SERVICE_HOST', value: '127.0.0.1' },
      { name: 'KUBERNETES_SERVICE_PORT', value: String(standIn?.port) },
    ],
    securityContext: without(c.securityContext, 'seLinuxOptions'),
    volumeMounts: [...(c.volumeMounts ?? []), token],
  })
  return {
    ...without(spec, 'serviceAccountName', 'automountServiceAccountToken'),
    containers: spec.containers.map(container),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(container) }),
    volumes: [
      ...spec.volumes.map((v) =>
        v.configMap === undefined ? v : { name: v.name, hostPath: { path: config } },
      ),
      { name: 'token', hostPath: { path: serviceAccount } },
    ],
  }
}

const putPod = (name: string, spec: object): void =>
  writeFileSync(
    `${manifests}/${name}.yaml`,
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'lab' }, spec }),
  )

const ask = (port: number, path: string, token = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const send = token === '' ? plainRequest : request
    send(
      {
        host: '127.0.0.1',
        port,
        path,
        headers: { authorization: `Bearer ${token}` },
        rejectUnauthorized: false,
      },
      (answer) => {
        let body = ''
        answer.on('data', (part: Buffer) => {
          body += part.toString()
        })
        answer.on('end', () =>
          answer.statusCode === 200
            ? resolve(body)
            : reject(new Error(`${path}: ${answer.statusCode} ${body}`)),
        )
      },
    )
      .on('error', reject)
      .end()
  })

/** Where it is when --root-dir is the default. */
const kubeletToken = (): string => readFileSync('/var/lib/keelson/token', 'utf8').trim()

const pods = async (): Promise<readonly PodItem[]> =>
  (JSON.parse(await ask(10250, '/pods', kubeletToken())) as { readonly items: readonly PodItem[] }).items

async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  ms = 150_000,
): Promise<T> {
  let last: unknown
  for (const end = Date.now() + ms; Date.now() < end; await sleep(500)) {
    try {
      const found = await look()
      if (found !== undefined) return found
    } catch (e) {
      last = e
    }
  }
  assert.fail(
    `not within ${ms} ms: ${what}; ${String(last)}\n${kubelet?.output().slice(-3000)}\n${companionLog()}`,
  )
}

const ready = (name: string): Promise<PodItem> =>
  until(`${name} is ready`, async () =>
    (await pods()).find(
      (p) =>
        p.metadata.name === `${name}-${node}` &&
        p.status.conditions.some((c) => c.type === 'Ready' && c.status === 'True'),
    ),
  )

/** The end of what the companion and its rollback wrote. */
const companionLog = (): string =>
  readdirSync('/var/log/pods', { recursive: true, encoding: 'utf8' })
    .filter((path) => /_(companion|rollback)-.*\.log$/.test(path))
    .map((path) => readFileSync(`/var/log/pods/${path}`, 'utf8').slice(-4000))
    .join('\n')

/** As the API server shows static pods: mirror pods that the node owns. */
function mirror(pod: PodItem): void {
  standIn?.api.put(`mirror-${pod.metadata.uid}`, {
    ...pod,
    metadata: {
      ...pod.metadata,
      uid: `mirror-${pod.metadata.uid}`,
      annotations: {
        'kubernetes.io/config.mirror': pod.metadata.uid,
        'kubernetes.io/config.hash': pod.metadata.uid,
        'kubernetes.io/config.source': 'file',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: node, controller: true }],
    },
  })
}

const idle = (resources: object): object => ({
  containers: [
    {
      name: 'app',
      image: imageReferences.busybox,
      command: ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done'],
      resources,
    },
  ],
})

const slice = '/sys/fs/cgroup/kubepods.slice'
let places: readonly string[] = []

const sliceOf = (pod: PodItem, qos: 'burstable' | 'guaranteed'): string =>
  qos === 'burstable'
    ? `${slice}/kubepods-burstable.slice/kubepods-burstable-pod${pod.metadata.uid}.slice`
    : `${slice}/kubepods-pod${pod.metadata.uid}.slice`

function containerOf(pod: string): string {
  const name = readdirSync(pod).filter((n) => n.startsWith('cri-containerd-'))
  // The sandbox has a scope too; the container's is the one with a limit.
  const found = name.map((n) => `${pod}/${n}`).find((at) => value(at, 'memory.max') !== 'max')
  assert.ok(found, `no container below ${pod}`)
  return found
}

const value = (at: string, file: string): string => readFileSync(`${at}/${file}`, 'utf8').trim()
const values = (): Record<string, string> =>
  Object.fromEntries(
    places.flatMap((at) =>
      ['memory.min', 'memory.low', 'memory.high', 'memory.max', 'cpu.weight'].map((f) => [
        `${at} ${f}`,
        value(at, f),
      ]),
    ),
  )

export const checks: readonly Check[] = [
  {
    name: 'PKG-20 a node with real pods, as it is before the companion',
    timeoutMs: 300_000,
    async run() {
      for (const dir of [manifests, config, '/var/lib/kubelet', '/var/lib/containerd', '/var/log/pods'])
        mkdirSync(dir, { recursive: true })
      writeFileSync(
        '/tmp/kubelet.yaml',
        `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: systemd
staticPodPath: ${manifests}
failSwapOn: false
address: 127.0.0.1
containerRuntimeEndpoint: ${endpoint()}
fileCheckFrequency: 1s
`,
      )
      putPod('web', idle({ requests: { memory: '32Mi' }, limits: { memory: '96Mi' } }))
      putPod('db', idle({ limits: { memory: '48Mi', cpu: '100m' } }))
      kubelet = startKeelson(['kubelet', '--config=/tmp/kubelet.yaml', `--hostname-override=${node}`])
      const [web, db] = [await ready('web'), await ready('db')]
      const [webSlice, dbSlice] = [sliceOf(web, 'burstable'), sliceOf(db, 'guaranteed')]
      places = [
        slice,
        `${slice}/kubepods-burstable.slice`,
        webSlice,
        containerOf(webSlice),
        dbSlice,
        containerOf(dbSlice),
      ]
      first = values()
      standIn = await startStandIn(serviceAccount, kubeletToken())
      for (const pod of [web, db]) mirror(pod)
      const map = documents('COMPANION_YAML').find((d) => d.kind === 'ConfigMap')
      writeFileSync(`${config}/config.yaml`, map?.data?.['config.yaml'] ?? '')
      return first
    },
  },
  {
    name: 'PKG-21 the image runs the companion as the manifest says: Memory QoS values appear on real pods',
    timeoutMs: 400_000,
    async run() {
      assert.ok(standIn, 'an earlier check failed')
      putPod('companion', asStaticPod(podOf('COMPANION_YAML')))
      await ready('companion')
      const [, , , web = '', , db = ''] = places
      // 32Mi + 0.9 x 64Mi in whole pages; TieredReservation: low for Burstable, min for Guaranteed.
      await until('the values of web', () =>
        value(web, 'memory.high') === '93949952' && value(web, 'memory.low') === String(32 * 1024 * 1024)
          ? true
          : undefined,
      )
      await until('the values of db', () =>
        value(db, 'memory.min') === String(48 * 1024 * 1024) ? true : undefined,
      )
      assert.notDeepEqual(values(), first)
    },
  },
  {
    name: 'PKG-22 its probes answer, and its metrics have pods, network and file systems of the host',
    timeoutMs: 200_000,
    async run() {
      assert.ok(standIn, 'an earlier check failed')
      assert.equal(await ask(10253, '/healthz'), 'ok')
      const text = await until('network of web', async () => {
        const page = await ask(10251, '/metrics/cadvisor', kubeletToken())
        return /container_network_receive_bytes_total\{[^}]*pod="web-node-1"/.test(page) ? page : undefined
      })
      assert.match(text, /container_memory_working_set_bytes\{[^}]*container="app"[^}]*pod="web-node-1"/)
      const summary = await until('logs of web', async () => {
        const page = JSON.parse(await ask(10251, '/stats/summary', kubeletToken())) as {
          readonly node: { readonly fs?: { readonly capacityBytes?: number } }
          readonly pods: readonly {
            readonly podRef: { readonly name: string }
            readonly containers: readonly { readonly logs?: { readonly usedBytes?: number } }[]
          }[]
        }
        const web = page.pods.find((p) => p.podRef.name === 'web-node-1')
        return web?.containers[0]?.logs?.usedBytes === undefined ? undefined : page
      })
      assert.ok((summary.node.fs?.capacityBytes ?? 0) > 0)
      const status = readFileSync(`/proc/${companionPid()}/status`, 'utf8')
      assert.match(status, /^CapEff:\s+0+$/m)
      return { rssMiB: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024) }
    },
  },
  {
    name: 'PKG-23 the rollback manifest restores every original value',
    timeoutMs: 400_000,
    async run() {
      assert.ok(standIn, 'an earlier check failed')
      rmSync(`${manifests}/companion.yaml`)
      await until('the companion has gone', async () =>
        (await pods()).some((p) => p.metadata.name === `companion-${node}`) ? undefined : true,
      )
      assert.notDeepEqual(values(), first, 'its values stay when it ends')
      putPod('rollback', asStaticPod(podOf('ROLLBACK_YAML')))
      await ready('rollback')
      assert.deepEqual(values(), first)
      assert.equal(existsSync('/var/lib/keelson/companion/found-values.json'), false)
      kubelet?.child.kill('SIGTERM')
      await kubelet?.ended
      await standIn?.api.close()
    },
  },
]

function companionPid(): string {
  const found = readdirSync('/proc').find(
    (pid) =>
      /^\d+$/.test(pid) &&
      existsSync(`/proc/${pid}/cmdline`) &&
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(
        '/usr/lib/keelson/node\0/usr/bin/keelson\0companion\0',
      ),
  )
  assert.ok(found, 'no process of the companion')
  return found
}

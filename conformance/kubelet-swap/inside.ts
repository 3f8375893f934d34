// Runs inside a cluster's node environment: changes the kubelet under running pods, kills it at random moments while pods come
// and go, and prints one line of JSON for each check.
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import type { KubePod } from '../../src/core/kube/objects.js'
import type { KubeApi } from '../../src/ports/kube-api.js'
import { check, until } from '../cluster/checks-inside.js'
import { type NodeKubelet, takeOverKubelet } from '../cluster/node-kubelet.js'
import { insideCluster } from '../cluster/plan.js'
import { runtimeSocket } from '../node-environment/plan.js'

const [upstream = '', keelson = '', count = '30', kills = '10'] = process.argv.slice(2)
const pods = '/api/v1/namespaces/default/pods'
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const options = { signal: new AbortController().signal }
const cri = createCriClient(`unix://${runtimeSocket}`)

const pod = (name: string, run: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { run } },
  spec: {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'app',
        image,
        command: ['sh', '-c', 'trap "exit 0" TERM; while true; do sleep 0.2; done'],
        resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { memory: '32Mi' } },
      },
    ],
  },
})

/** Its mirror is among the pods of the API server. */
const staticPod = join(insideCluster, 'manifests/stays.json')

interface Shown {
  readonly phase: string
  readonly containers: string
}
async function shownPods(api: KubeApi, run: string): Promise<ReadonlyMap<string, Shown>> {
  const { items } = await api.list(pods, { labelSelector: `run=${run}` }, options)
  return new Map(
    (items as readonly KubePod[]).map(({ metadata, status }) => {
      const list = (status?.['containerStatuses'] ?? []) as readonly {
        readonly containerID?: string
        readonly restartCount: number
      }[]
      const containers = list.map((c) => `${c.containerID ?? ''} ${c.restartCount}`).join(',')
      return [metadata?.name ?? '', { phase: status?.phase ?? '', containers }]
    }),
  )
}

let kubelet: NodeKubelet
const start = (command: string): void => kubelet.start(command, command === keelson ? 'keelson' : 'upstream')

/** A kubelet that is in charge starts a new pod and ends an old one. */
async function isInCharge(api: KubeApi, name: string): Promise<void> {
  await api.create(pods, pod(name, 'probe'), options)
  await until(
    `pod ${name} runs`,
    60,
    async () => (await shownPods(api, 'probe')).get(name)?.phase === 'Running',
  )
  await api.remove(`${pods}/${name}`, options)
  await until(`pod ${name} is gone`, 60, async () => !(await shownPods(api, 'probe')).has(name))
}

async function swap(api: KubeApi): Promise<void> {
  await kubelet.stop('SIGTERM')
  start(upstream)
  const names = Array.from({ length: Number(count) }, (_, i) => `stays-${i}`)
  for (const name of names) await api.create(pods, pod(name, 'stays'), options)
  const { spec, ...rest } = pod('static', 'stays')
  await writeFile(staticPod, JSON.stringify({ ...rest, spec: { ...spec, nodeName: undefined } }))
  const allRun = async (): Promise<boolean> =>
    [...(await shownPods(api, 'stays')).values()].filter((p) => p.phase === 'Running').length ===
    names.length + 1
  await check(`the upstream kubelet runs ${names.length} pods and a static one`, () =>
    until('all run', 180, allRun),
  )
  const before = JSON.stringify([...(await shownPods(api, 'stays'))])
  for (const [title, command] of [
    ['upstream kubelet to Keelson', keelson],
    ['Keelson to upstream kubelet', upstream],
    ['upstream kubelet to Keelson again', keelson],
  ] as const)
    await check(`${title}: no container is restarted`, async () => {
      await kubelet.stop('SIGTERM')
      start(command)
      await isInCharge(api, `probe-${Math.random().toString(36).slice(2, 8)}`)
      await sleep(5_000)
      const now = JSON.stringify([...(await shownPods(api, 'stays'))])
      if (now !== before) throw new Error(`before ${before.slice(0, 400)}, now ${now.slice(0, 400)}`)
    })
}

/** Pods come and go while the kubelet is killed. Each container may start once. */
async function killAtRandom(api: KubeApi): Promise<void> {
  const ids = new Map<string, Set<string>>()
  const note = async (): Promise<void> => {
    for (const [name, { containers }] of await shownPods(api, 'rolls'))
      for (const entry of containers.split(','))
        if (entry !== '' && !entry.startsWith(' ')) ids.set(name, (ids.get(name) ?? new Set()).add(entry))
  }
  let serial = 0
  for (let i = 0; i < Number(kills); i++) {
    for (let n = 0; n < 4; n++) await api.create(pods, pod(`rolls-${serial++}`, 'rolls'), options)
    await sleep(Math.random() * 2_000)
    await kubelet.stop('SIGKILL')
    const old = [...(await shownPods(api, 'rolls')).keys()].slice(0, 2)
    for (const name of old)
      await api.remove(`${pods}/${name}`, {
        ...options,
        ...(Math.random() < 0.3 ? { gracePeriodSeconds: 0 } : {}),
      })
    start(keelson)
    await sleep(Math.random() * 3_000)
    await note()
  }
  await check(`after ${kills} kills of the kubelet every pod that is left runs`, () =>
    until('all run', 180, async () =>
      [...(await shownPods(api, 'rolls')).values()].every(({ phase }) => phase === 'Running'),
    ),
  )
  await note()
  await check('no container was started twice', async () => {
    const twice = [...ids].filter(([, seen]) => seen.size > 1).map(([name, seen]) => `${name}: ${[...seen]}`)
    if (twice.length > 0) throw new Error(twice.join('; ').slice(0, 1000))
  })
}

async function removeAll(api: KubeApi): Promise<void> {
  await rm(staticPod)
  for (const run of ['stays', 'rolls'])
    for (const name of (await shownPods(api, run)).keys()) await api.remove(`${pods}/${name}`, options)
  await check('deleted pods leave nothing: no object, sandbox, directory or log', async () => {
    await until('no object is left', 120, async () => {
      const { items } = await api.list(pods, {}, options)
      return items.length === 0
    })
    await until('no sandbox is left', 60, async () => {
      const { items } = await cri.runtime.listPodSandbox({}, { timeoutMs: 10_000, signal: options.signal })
      return items.length === 0
    })
    for (const directory of ['/var/lib/kubelet/pods', '/var/log/pods'])
      await until(`${directory} is empty`, 90, async () => (await readdir(directory)).length === 0)
  })
}

async function main(): Promise<void> {
  const api = await openKubeApi({ kubeconfig: process.env.KUBECONFIG, log: quiet as never, version: 'test' })
  kubelet = await takeOverKubelet()
  await swap(api)
  await killAtRandom(api)
  await removeAll(api)
  await kubelet.stop('SIGTERM')
}

await main()
process.exit(0)

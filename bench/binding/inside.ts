// Runs inside a cluster's node environment: the upstream kubelet and Keelson in turns as the kubelet of the node; pods are bound
// by the scheduler one after the other, and one watch of the API server gives both times of each: bound and Running.
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { check, until } from '../../conformance/cluster/checks-inside.js'
import { takeOverKubelet } from '../../conformance/cluster/node-kubelet.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import type { KubePod } from '../../src/core/kube/objects.js'
import type { KubeApi } from '../../src/ports/kube-api.js'

export interface BindingOptions {
  /** By name, in the order of a turn. */
  readonly kubelets: Readonly<Record<string, string>>
  readonly turns: number
  readonly pods: number
  readonly results: string
}

const pods = '/api/v1/namespaces/default/pods'
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
const options = { signal: new AbortController().signal, timeoutMs: 60_000 }
/** What is done once after a start is over, and the caches of the kubelet are filled. */
const WARM_PODS = 3
/** Pods come at any moment of a kubelet's periods. */
const MAX_PAUSE_MS = 1_000

const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'app',
        image,
        command: ['sh', '-c', 'trap "exit 0" TERM; sleep 1000000 & wait'],
        resources: { requests: { cpu: '1m', memory: '4Mi' }, limits: { memory: '32Mi' } },
      },
    ],
  },
})

interface Times {
  bound?: number
  running?: number
}

function watchTimes(api: KubeApi): ReadonlyMap<string, Times> {
  const times = new Map<string, Times>()
  const put = ({ metadata, spec, status }: KubePod): void => {
    const name = metadata?.name ?? ''
    const of = times.get(name) ?? {}
    times.set(name, of)
    if (spec?.['nodeName'] !== undefined) of.bound ??= performance.now()
    if (status?.phase === 'Running') of.running ??= performance.now()
  }
  void api.follow(pods, {}, { replace: (all) => all.forEach(put), put, remove: () => {} }, options.signal)
  return times
}

async function startOne(api: KubeApi, name: string, times: ReadonlyMap<string, Times>): Promise<number> {
  await api.create(pods, pod(name), options)
  await until(`${name} runs`, 120, async () => times.get(name)?.running !== undefined)
  const { bound = Number.NaN, running = Number.NaN } = times.get(name) ?? {}
  return running - bound
}

async function removeAll(api: KubeApi): Promise<void> {
  const list = async (): Promise<readonly KubePod[]> => (await api.list(pods, {}, options)).items
  for (const { metadata } of await list()) await api.remove(`${pods}/${metadata?.name}`, options)
  await until('all pods are gone', 300, async () => (await list()).length === 0)
}

async function main(o: BindingOptions): Promise<void> {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const api = await openKubeApi({ kubeconfig: process.env.KUBECONFIG, log: quiet as never, version: 'bench' })
  const kubelet = await takeOverKubelet()
  const times = watchTimes(api)
  const measured: Record<string, number[][]> = {}
  for (let turn = 0; turn < o.turns; turn++)
    for (const [name, command] of Object.entries(o.kubelets)) {
      kubelet.start(command, name)
      for (let i = 0; i < WARM_PODS; i++) await startOne(api, `warm-${turn}-${name}-${i}`, times)
      const values: number[] = []
      for (let i = 0; i < o.pods; i++) {
        await sleep(Math.random() * MAX_PAUSE_MS)
        values.push(await startOne(api, `pod-${turn}-${name}-${i}`, times))
      }
      measured[name] = [...(measured[name] ?? []), values]
      const middle = [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
      process.stdout.write(`turn ${turn + 1}: ${name} ${middle.toFixed(0)} ms\n`)
      await removeAll(api)
      await kubelet.stop('SIGTERM')
    }
  await writeFile(o.results, JSON.stringify(measured))
}

await check('measured', () => main(JSON.parse(process.argv[2] ?? '{}') as BindingOptions))
process.exit(0)

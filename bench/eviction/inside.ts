// Runs inside a machine: the real kubelet with static pods on real containerd, one pod of which grows until it is evicted or the
// kernel's OOM killer ends it; again and again, with Memory QoS off and on. Writes one JSON file to $LAB_OUT.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PodJson } from '../../src/core/pod/document.js'
import { imageReferences } from '../../src/lab/images/images.js'
import { commandFromHere, LabKubelet } from '../../test/lab/inside/lab-kubelet.js'
import { OomKills } from './oom-kills.js'
import { type Mode, type RunResult, rates, type Scene, scenes, thresholdMiB } from './scene.js'

await commandFromHere()
// The kernel may kill any pod, but not this process and what it starts.
writeFileSync('/proc/self/oom_score_adj', '-999')

const runsPerRate = Number(process.env['BENCH_RUNS'])
const mode: Mode = process.env['BENCH_MODE'] === 'on' ? 'on' : 'off'
const programs = '/run/bench'
mkdirSync(programs, { recursive: true })
copyFileSync(join(import.meta.dirname, 'grow'), `${programs}/grow`)

const kubelet = new LabKubelet()
const oomKills = new OomKills()

const configOf = (): string => `evictionHard: {memory.available: ${thresholdMiB}Mi}
evictionPressureTransitionPeriod: 2s
${mode === 'on' ? 'featureGates: {MemoryQoS: true}\nmemoryReservationPolicy: TieredReservation\nmemoryThrottlingFactor: 0.9' : ''}`

const specOf = ({ MiB, resources }: Scene['grower'], rate: number, restartPolicy: string): object => ({
  hostNetwork: true,
  restartPolicy,
  // A BestEffort pod is not taken under memory pressure, and the condition outlives its cause.
  tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' }],
  terminationGracePeriodSeconds: 1,
  volumes: [{ name: 'bench', hostPath: { path: programs } }],
  containers: [
    {
      name: 'main',
      image: imageReferences.busybox,
      imagePullPolicy: 'Never',
      command: ['/bench/grow', String(MiB), String(rate)],
      resources,
      volumeMounts: [{ name: 'bench', mountPath: '/bench', readOnly: true }],
    },
  ],
})

async function pods(): Promise<readonly PodJson[]> {
  const { items } = JSON.parse(await kubelet.page('/pods')) as { items: PodJson[] }
  return items
}
const nameOf = (pod: PodJson): string => (pod.metadata.name ?? '').replace(/-lab$/, '')

async function until(what: string, seconds: number, isSo: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(200))
    if (await isSo().catch(() => false)) return true
  console.log(`not within ${seconds} s: ${what}\n${kubelet.output().slice(-3000)}`)
  return false
}

/** Milliseconds of the kubelet's log lines with this message about this pod. */
function loggedAt(message: string, pod?: string): readonly { readonly at: number; readonly pod: string }[] {
  const lines = kubelet.output().split('\n')
  return lines.flatMap((line) => {
    const found = /^.\d{4} (\d\d):(\d\d):(\d\d)\.(\d{3})\d{3} .*?\] "(.*?)".* pod="lab\/([\w-]+)-lab"/.exec(
      line,
    )
    if (found === null || found[5] !== message || (pod !== undefined && found[6] !== pod)) return []
    const [, h, m, s, ms] = found.map(Number)
    return [{ at: (((h ?? 0) * 60 + (m ?? 0)) * 60 + (s ?? 0)) * 1000 + (ms ?? 0), pod: found[6] ?? '' }]
  })
}

const availableMiB = (): number =>
  Number(/^MemAvailable: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'latin1'))?.[1]) / 1024

const restartsOf = (list: readonly PodJson[]): ReadonlyMap<string, number> =>
  new Map(
    list.map((pod) => [
      nameOf(pod),
      (pod.status?.containerStatuses ?? []).reduce((sum, c) => sum + c.restartCount, 0),
    ]),
  )

const isRunning = (list: readonly PodJson[], name: string): boolean =>
  list.some(
    (p) =>
      nameOf(p) === name &&
      p.status?.phase === 'Running' &&
      (p.status.containerStatuses ?? []).every((c) => c.ready),
  )

/** All pods that do not grow run, and the node takes new ones. */
async function calm(scene: Scene): Promise<void> {
  for (const pod of scene.steady) kubelet.putPod(pod.name, specOf(pod, 0, 'Always'))
  await until('the pods run', 60, async () => {
    const list = await pods()
    // An evicted static pod does not come back before its manifest is written anew.
    for (const { name } of scene.steady)
      if (list.some((p) => nameOf(p) === name && p.status?.reason === 'Evicted')) {
        kubelet.removePod(name)
        await sleep(2_000)
        kubelet.putPod(name, specOf(scene.steady.find((p) => p.name === name) ?? scene.grower, 0, 'Always'))
      }
    return scene.steady.every(({ name }) => isRunning(list, name))
  })
  await until('the pressure is over', 30, async () => availableMiB() > thresholdMiB + 100)
}

let serial = 0
async function measure(scene: Scene, rate: number): Promise<RunResult> {
  await calm(scene)
  const grower = `${scene.grower.name}${++serial}`
  const before = restartsOf(await pods())
  const knownEvictions = loggedAt('evicting a pod').length
  oomKills.forget()
  const began = Date.now()
  kubelet.putPod(grower, specOf(scene.grower, rate, 'Never'))
  let leastMiB = Number.POSITIVE_INFINITY
  const hasEnded = async (): Promise<boolean> => {
    leastMiB = Math.min(leastMiB, availableMiB())
    return loggedAt('the evicted pod has ended', grower).length > 0 || oomKills.list().length > 0
  }
  for (const end = Date.now() + 90_000; Date.now() < end && !(await hasEnded()); ) await sleep(50)
  // Both may come, one a moment after the other; and no second pod may go.
  for (const end = Date.now() + 1_500; Date.now() < end; await sleep(50))
    leastMiB = Math.min(leastMiB, availableMiB())
  const list = await pods()
  const uids = new Map(list.map((p) => [p.metadata.uid ?? '', nameOf(p)]))
  const evictions = loggedAt('evicting a pod').slice(knownEvictions)
  const ended = loggedAt('the evicted pod has ended', grower)[0]?.at
  const decided = evictions.find(({ pod }) => pod === grower)?.at
  const oomKilled = oomKills.list().map((uid) => uids.get(uid) ?? uid)
  kubelet.removePod(grower)
  await until('the growing pod is gone', 60, async () => !(await pods()).some((p) => nameOf(p) === grower))
  const now = restartsOf(list)
  return {
    mode,
    scene: scene.name,
    rate,
    grower,
    evicted: evictions.map(({ pod }) => pod),
    oomKilled,
    first: oomKilled.length > 0 ? 'OOM killer' : evictions.length > 0 ? 'eviction' : 'neither',
    restarts: Object.fromEntries(
      scene.steady.map(({ name }) => [name, (now.get(name) ?? 0) - (before.get(name) ?? 0)]),
    ),
    leastMiB: Math.round(leastMiB),
    endedMs: ended === undefined || decided === undefined ? undefined : ended - decided,
    seconds: (Date.now() - began) / 1000,
  }
}

const results: RunResult[] = []
await kubelet.start({ driver: 'cgroupfs', config: configOf(), keelson: 'evictStaticPods: true' })
for (const scene of scenes) {
  for (let round = 0; round < runsPerRate; round++)
    for (const rate of rates) {
      const result = await measure(scene, rate)
      results.push(result)
      console.log(JSON.stringify(result))
      writeFileSync(`${process.env['LAB_OUT'] ?? '.'}/eviction.json`, JSON.stringify(results))
    }
  for (const { name } of scene.steady) kubelet.removePod(name)
  await until('no pod is left', 60, async () => (await pods()).length === 0)
}
await kubelet.stop()
process.exit(0)

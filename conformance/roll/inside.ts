// Runs inside a cluster's node environment: pods are created, updated and deleted through Deployments, with the kubelet and
// the runtime killed meanwhile if that is asked for; what the API server showed and what is left on the node is checked.
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import type { KubePod } from '../../src/core/kube/objects.js'
import { ContainerState, PodSandboxState } from '../../src/cri-api/api.js'
import type { KubeApi } from '../../src/ports/kube-api.js'
import { createRandom, type Random } from '../../test/fuzz/random.js'
import { check, until } from '../cluster/checks-inside.js'
import { takeOverKubelet } from '../cluster/node-kubelet.js'
import { insideDirectory, runtimeSocket } from '../node-environment/plan.js'
import { createRuntimeKiller, type Kill, type Killer, killAll, planKills } from './kills.js'
import { isOfKilledRuntime, leftSince, type NodeEntries, readEntries } from './leftovers.js'
import { createLoad, type Load, pods } from './load.js'
import { readSeenPod, type SeenPod, statusProblems } from './status-rules.js'

interface Settings {
  readonly command: string
  readonly pods: number
  readonly kills: number
  readonly runtimeKills: number
  readonly seed: number
}

const DEPLOYMENTS = 10
/** Room for the pods that a rolling update has more for a moment; the pods' network has 253 addresses. */
const SPARE_PODS = 40
const CONVERGE_S = 900
/** Created, updated, rolled at random, deleted. */
const PHASES = 4
/** No more is changed while so many pods are still to come: the load shall be rolled, not heaped up. */
const MAX_MISSING = 60
const starts = join(insideDirectory, 'starts')
const signal = new AbortController().signal
const cri = createCriClient(`unix://${runtimeSocket}`)
const callOptions = { timeoutMs: 20_000, signal }
const began = Date.now()
const say = (line: string): void => {
  process.stdout.write(`${((Date.now() - began) / 1000).toFixed(0)} s: ${line}\n`)
}

/** Everything that the API server showed of the pods. */
interface Watched {
  readonly problems: string[]
  readonly seen: Map<string, SeenPod>
  updates: number
}

function watchPods(api: KubeApi): Watched {
  const watched: Watched = { problems: [], seen: new Map(), updates: 0 }
  const put = (object: KubePod): void => {
    const uid = object.metadata?.uid ?? ''
    const now = readSeenPod(object)
    const before = watched.seen.get(uid)
    watched.updates++
    if (before !== undefined)
      for (const problem of statusProblems(before, now)) {
        watched.problems.push(`${now.name}: ${problem}`)
        say(`${now.name} (${uid}): ${problem}`)
      }
    watched.seen.set(uid, now)
  }
  const store = {
    replace: (objects: readonly KubePod[]) => objects.forEach(put),
    put,
    remove: () => {},
  }
  void api.follow(pods, { labelSelector: 'roll=yes' }, store, signal)
  return watched
}

const converged = (load: Load, what: string): Promise<void> =>
  until(what, CONVERGE_S, async () => (await load.missing()) === 0)

/** Deployments are updated and scaled, single pods are deleted, until `isOver`. */
async function roll(load: Load, replicas: number, random: Random, isOver: () => boolean): Promise<void> {
  const name = (): string => load.names[random.below(load.names.length)] ?? ''
  while (!isOver()) {
    await sleep(random.below(2_000))
    if ((await load.missing()) > MAX_MISSING) continue
    const what = random.below(10)
    if (what < 5) await load.update(name())
    else if (what < 7) await load.scale(name(), replicas - 4 + random.below(5))
    else {
      const all = await load.list()
      for (let i = 0; i < 3; i++) {
        const pod = all[random.below(Math.max(1, all.length))]?.metadata?.name
        if (pod !== undefined) await load.deletePod(pod, random.chance(30) ? { gracePeriodSeconds: 0 } : {})
      }
    }
  }
  for (const each of load.names) await load.scale(each, replicas)
}

async function compareViews(load: Load): Promise<void> {
  let differences: readonly string[] = []
  await until('terminated pods have gone', 120, async () =>
    (await load.list()).every(({ metadata }) => metadata?.deletionTimestamp === undefined),
  )
  await until('both views are equal', 60, async () => {
    const shown = (await load.list()).flatMap(({ metadata, status }) =>
      ((status?.['containerStatuses'] ?? []) as readonly { containerID?: string }[]).map(
        ({ containerID = '' }) => `${metadata?.uid} ${containerID.split('//')[1] ?? ''}`,
      ),
    )
    const { containers } = await cri.runtime.listContainers({}, callOptions)
    const run = containers
      .filter(({ state }) => state === ContainerState.CONTAINER_RUNNING)
      .map(({ id, labels }) => `${labels['io.kubernetes.pod.uid']} ${id}`)
    const { items } = await cri.runtime.listPodSandbox({}, callOptions)
    const sandboxes = items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY)
    differences = [
      ...shown.filter((pod) => !run.includes(pod)).map((pod) => `only in the API server: ${pod}`),
      ...run.filter((pod) => !shown.includes(pod)).map((pod) => `only in the runtime: ${pod}`),
      ...(sandboxes.length === shown.length ? [] : [`${sandboxes.length} sandboxes, ${shown.length} pods`]),
    ]
    return differences.length === 0
  }).catch((e: unknown) => {
    throw new Error(`${e instanceof Error ? e.message : String(e)}: ${differences.slice(0, 10).join('; ')}`)
  })
}

/**
 * A runtime that is starting a container when its caller is killed, or when it is killed itself, ends what it has started: the
 * container is started again. Never are there two at once, and without kills there is one start for each.
 */
async function checkStarts(watched: Watched, kills: number): Promise<void> {
  const problems: string[] = []
  let [once, again] = [0, 0]
  for (const uid of await readdir(starts)) {
    const lines = (await readFile(join(starts, uid), 'utf8')).split('\n').slice(0, -1)
    const name = watched.seen.get(uid)?.name ?? uid
    const count = lines.filter((line) => line === 'start').length
    if (lines.includes('twice')) problems.push(`${name}: two at once`)
    if (count > 1 && kills === 0) problems.push(`${name}: ${count} times`)
    if (count === 1) once++
    else again++
  }
  say(
    `${once} containers were started once, ${again} again after an interrupted start; ${watched.updates} statuses of ${watched.seen.size} pods`,
  )
  if (problems.length > 0) throw new Error(problems.join('; ').slice(0, 1_000))
}

async function removeAll(load: Load, isOver: () => boolean): Promise<void> {
  await load.remove()
  await until('no object is left', CONVERGE_S, async () => (await load.list()).length === 0 && isOver())
  await until('no sandbox and container is left', 120, async () => {
    const { items } = await cri.runtime.listPodSandbox({}, callOptions)
    const { containers } = await cri.runtime.listContainers({}, callOptions)
    return items.length === 0 && containers.length === 0
  })
}

/**
 * A shim that containerd was just starting when it was killed is known to no runtime any more, and so is the file of a network
 * namespace; CRI has no call that would remove them. With kills of the runtime they are said, not judged.
 */
async function checkLeftovers(before: NodeEntries, runtimeKills: number): Promise<void> {
  for (const [part, what] of [
    ['kubelet', 'no cgroup, mount, directory or log is left'],
    ['runtime', 'no network namespace, address or shim is left'],
  ] as const)
    await check(what, async () => {
      let left: readonly string[] = []
      await until('nothing is left', 120, async () => {
        left = (await leftSince(before))[part].filter(
          (entry) => runtimeKills === 0 || !isOfKilledRuntime(entry),
        )
        return left.length === 0
      }).catch(() => {
        throw new Error(`${left.length} left: ${left.slice(0, 20).join(', ')}`)
      })
    })
  const lost = (await leftSince(before)).runtime.filter(isOfKilledRuntime)
  if (lost.length > 0) say(`left by a containerd that was killed: ${lost.join(', ')}`)
}

async function main(o: Settings): Promise<void> {
  const quiet = { debug() {}, info() {}, warn() {}, error() {} }
  const api = await openKubeApi({ kubeconfig: process.env.KUBECONFIG, log: quiet as never, version: 'test' })
  const kubelet = await takeOverKubelet({ maxPods: o.pods + SPARE_PODS })
  kubelet.start(o.command, 'keelson')
  await mkdir(starts, { recursive: true })
  const random = createRandom(o.seed)
  const replicas = Math.max(1, Math.floor(o.pods / DEPLOYMENTS))
  const load = createLoad(api, { deployments: DEPLOYMENTS, replicas, startsDirectory: starts })
  const before = await readEntries()
  const watched = watchPods(api)
  const kills = planKills(o.kills, o.runtimeKills, random)
  const killer: Killer = {
    kubelet,
    command: o.command,
    killRuntime: await createRuntimeKiller(),
    random: createRandom(o.seed + 1),
  }
  let killed = 0
  /** A part of the kills goes with each part of the load. */
  const phase = async (name: string, body: (isOver: () => boolean) => Promise<void>): Promise<void> => {
    const from = killed
    killed = Math.min(kills.length, killed + Math.ceil(kills.length / PHASES))
    const part = kills.slice(from, killed)
    let isOver = false
    const killing = killAll(part, killer).finally(() => {
      isOver = true
    })
    const count = (kill: Kill): number => part.filter((k) => k === kill).length
    const kinds =
      part.length === 0
        ? ''
        : `, ${count('kubelet')} kills of the kubelet, ${count('runtime')} of the runtime`
    await check(`${name}${kinds}`, async () => {
      await Promise.all([killing, body(() => isOver)])
    })
    say(name)
  }

  await phase(`${o.pods} pods of ${DEPLOYMENTS} Deployments are created and run`, async () => {
    await load.create()
    await converged(load, 'all pods are available')
  })
  await phase(`${o.pods} pods are replaced by an update`, async () => {
    for (const name of load.names) await load.update(name)
    await converged(load, 'all pods are new')
  })
  if (kills.length > 0)
    await phase('pods are updated, scaled and deleted at random, and converge', async (isOver) => {
      await roll(load, replicas, random, isOver)
      await converged(load, 'all pods are available')
    })
  await check("the API server's view is the runtime's", () => compareViews(load))
  await phase('deleted: no pod is left in the API server and in the runtime', (isOver) =>
    removeAll(load, isOver),
  )
  await checkLeftovers(before, o.runtimeKills)
  await check('no container was started twice', () => checkStarts(watched, kills.length))
  await check('no status went back', async () => {
    if (watched.problems.length > 0)
      throw new Error(`${watched.problems.length}: ${watched.problems.slice(0, 20).join('; ')}`)
  })
  await kubelet.stop('SIGTERM')
}

await main(JSON.parse(process.argv[2] ?? '{}') as Settings)
process.exit(0)

// Inside an environment: the upstream kubelet with EventedPLEG on a runtime without events, through `keelson cri`. Containers start and
// end by themselves under load; every event is compared with what CRI says at that moment.
import { spawn } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { ContainerEventType, ContainerState } from '../../src/cri-api/api.js'
import type { CellPlan } from '../matrix/cell-plan.js'
import { manifests, startKubelet } from '../matrix/kubelet.js'
import {
  askKubelet,
  check,
  directEndpoint,
  endProcess,
  image,
  restartRuntime,
  serverEndpoint,
  startServer,
  until,
} from '../matrix/node.js'

export interface EventedPlan {
  readonly cell: CellPlan
  /** In all; and in each pod. */
  readonly containers: number
  readonly perPod: number
  readonly podsAtOnce: number
}

const { cell, containers, perPod, podsAtOnce } = JSON.parse(process.argv[2] ?? '{}') as EventedPlan
const direct = createCriClient(directEndpoint(cell.runtime), { timeoutMs: 60_000 })

interface Seen {
  readonly type: ContainerEventType
  /** What CRI says when the event is here. Undefined: it is gone. */
  readonly state: ContainerState | undefined
}
const seen = new Map<string, Seen[]>()

async function follow(signal: AbortSignal): Promise<void> {
  const client = createCriClient(serverEndpoint, { timeoutMs: 60_000 })
  try {
    const stream = client.runtime.getContainerEvents({}, { timeoutMs: Number.POSITIVE_INFINITY, signal })
    for await (const { containerId: id, containerEventType: type } of stream) {
      const state = await direct.runtime.containerStatus({ containerId: id }).then(
        ({ status }) => status?.state,
        (e: unknown) => {
          if (isKeelsonError(e) && e.code === 'runtime.not-found') return undefined
          throw e
        },
      )
      seen.set(id, [...(seen.get(id) ?? []), { type, state }])
    }
  } catch (e) {
    if (!signal.aborted) throw e
  } finally {
    client.close()
  }
}

const pod = (name: string, seconds: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: Array.from({ length: perPod }, (_, i) => ({
        name: `c${i}`,
        image,
        command: ['/bin/sh', '-c', `sleep ${seconds}`],
        resources: { requests: { cpu: '1m', memory: '1Mi' } },
      })),
    },
  })

interface ShownPod {
  readonly metadata: { readonly name: string }
  readonly status: {
    readonly phase: string
    readonly containerStatuses?: readonly { containerID?: string }[]
  }
}
const shownPods = async (): Promise<readonly ShownPod[]> =>
  (JSON.parse(await askKubelet('/pods')) as { items: ShownPod[] | null }).items ?? []

/** Ids of the containers of pods that have all succeeded. */
async function runRound(
  names: readonly string[],
  seconds: string,
  during?: () => Promise<void>,
): Promise<string[]> {
  for (const name of names) await writeFile(join(manifests, `${name}.json`), pod(name, seconds))
  await during?.()
  let ids: string[] = []
  await until(`${names.join(', ')} succeed`, 480, async () => {
    const mine = (await shownPods()).filter((p) => names.includes(p.metadata.name.replace(/-node-1$/, '')))
    ids = mine.flatMap((p) =>
      (p.status.containerStatuses ?? []).map((c) => c.containerID?.split('//')[1] ?? ''),
    )
    return mine.length === names.length && mine.every((p) => p.status.phase === 'Succeeded')
  })
  if (ids.length !== names.length * perPod || ids.includes('')) throw new Error(`${ids.length} containers`)
  for (const file of await readdir(manifests)) await rm(join(manifests, file))
  await until('the pods are gone', 480, async () => {
    const { items } = await direct.runtime.listPodSandbox({})
    return items.every((s) => s.state !== 0) && (await shownPods()).length === 0
  })
  return ids
}

async function readMetric(name: string): Promise<number> {
  const value = new RegExp(`^${name} (\\S+)`, 'm').exec(await askKubelet('/metrics'))?.[1]
  if (value === undefined) throw new Error(`the kubelet has no ${name}`)
  return Number(value)
}

const namesOf = (round: string): string[] =>
  Array.from({ length: podsAtOnce }, (_, i) => `round-${round}-${i}`)

function judge(ids: readonly string[]): string[] {
  const wrong: string[] = []
  for (const id of ids) {
    const events = seen.get(id) ?? []
    // The kubelet removes dead containers when it sees fit: their last event may be to come.
    const types = events.map((e) => e.type).filter((t) => t !== ContainerEventType.CONTAINER_DELETED_EVENT)
    if (types.join() !== '0,1,2') wrong.push(`${id}: events ${types.join()}`)
    for (const { type, state } of events) {
      if (state === undefined) continue
      const isAhead =
        (type === ContainerEventType.CONTAINER_STARTED_EVENT && state === ContainerState.CONTAINER_CREATED) ||
        (type === ContainerEventType.CONTAINER_STOPPED_EVENT && state !== ContainerState.CONTAINER_EXITED) ||
        type === ContainerEventType.CONTAINER_DELETED_EVENT
      if (isAhead) wrong.push(`${id}: event ${type} while CRI says state ${state}`)
    }
  }
  return wrong
}

let server = await startServer(cell.programs.keelson, cell.runtime)
const kubelet = await startKubelet(cell, serverEndpoint)
const stop = new AbortController()
const load = Array.from({ length: 2 }, () => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }))
let following: Promise<void> = Promise.resolve()
const ids: string[] = []

await check(
  `${containers} containers start and end under load: every event once, in order, none before CRI agrees`,
  async () => {
    await until('the kubelet answers', 300, async () => (await askKubelet('/healthz')) === 'ok')
    following = follow(stop.signal)
    following.catch(() => {}) // awaited below
    const began = Date.now()
    for (let round = 0; ids.length < containers; round++)
      ids.push(...(await runRound(namesOf(String(round)), `0.${(round % 9) + 1}`)))
    await until('the events of all of them', 60, async () => judge(ids).length === 0).catch(() => {})
    const wrong = judge(ids)
    if (wrong.length > 0) throw new Error(`${wrong.length} of ${ids.length}: ${wrong.slice(0, 5).join('; ')}`)
    return { containers: ids.length, seconds: Math.round((Date.now() - began) / 1000) }
  },
)
await check('the kubelet received every event', async () => {
  const sent = (): number => [...seen.values()].flat().length
  let received = 0
  // It connected before this program did, so that it may have a few more.
  await until('as many events as here', 60, async () => {
    received = await readMetric('kubelet_evented_pleg_connection_latency_seconds_count')
    return received >= sent()
  })
  const errors = await readMetric('kubelet_evented_pleg_connection_error_count')
  if (errors > 0) throw new Error(`${errors} streams failed`)
  return { sent: sent(), received }
})
stop.abort()
await check('the stream of events did not end before', async () => await following)
await check('a killed server: pods that end meanwhile are seen to end', async () => {
  await runRound(namesOf('server'), '8', async () => {
    await until('they run', 300, async () => {
      const { containers: all } = await direct.runtime.listContainers({ filter: { state: { state: 1 } } })
      return all.length === podsAtOnce * perPod
    })
    await endProcess(server, 'SIGKILL')
    await sleep(10_000)
    server = await startServer(cell.programs.keelson, cell.runtime)
  })
})
await check('a killed runtime: pods that end meanwhile are seen to end', async () => {
  await runRound(namesOf('runtime'), '8', async () => {
    await until('they run', 300, async () => {
      const { containers: all } = await direct.runtime.listContainers({ filter: { state: { state: 1 } } })
      return all.length === podsAtOnce * perPod
    })
    await restartRuntime(cell.runtime)
  })
})
for (const child of load) child.kill('SIGKILL')
await endProcess(kubelet, 'SIGKILL')
await endProcess(server, 'SIGKILL')
process.exit(0)

// A cell whose client is a kubelet, upstream's or ours: static pods through their life, over one endpoint and then over the
// other.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { ContainerState } from '../../src/cri-api/api.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { driverOf } from '../node-environment/plan.js'
import type { CellPlan } from './cell-plan.js'
import { cgroupOf, isV2, readCgroupFile } from './cgroup-files.js'
import { manifests, startKubelet, tellsDriver, throttlingFactor } from './kubelet.js'
import {
  askKubelet,
  check,
  compareStreams,
  directEndpoint,
  endProcess,
  image,
  NotHere,
  out,
  serverEndpoint,
  startServer,
  until,
} from './node.js'

/** With the systemd driver runc warns, on the container's stderr, of each default device that the machine's kernel lacks. */
const withoutRunc = (log: string): string =>
  log.replaceAll(/^time="[^"]*" level=warning msg="skipping device .*\n/gm, '')

const MiB = 1024 * 1024
const request = 64 * MiB
const limit = 128 * MiB

const podNames = ['app', 'pair'] as const
const pod = (name: string, containers: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      terminationGracePeriodSeconds: 1,
      containers: containers.map((container) => ({
        name: container,
        image,
        command: [
          '/bin/sh',
          '-c',
          `trap "exit 0" TERM; echo ${container} begins; while :; do sleep 0.5; done`,
        ],
        resources: { requests: { cpu: '10m', memory: String(request) }, limits: { memory: String(limit) } },
      })),
    },
  })

export async function runKubeletCell(plan: CellPlan): Promise<void> {
  const direct = createCriClient(directEndpoint(plan.runtime), { timeoutMs: 30_000 })
  let server = plan.way === 'keelson cri' ? await startServer(plan.programs.keelson, plan.runtime) : undefined
  let kubelet = await startKubelet(plan, plan.way === 'keelson cri' ? serverEndpoint : undefined)
  try {
    await checkLife(plan, direct)
    await check('kill of the server', async () => {
      if (server === undefined) throw new NotHere('no server is in between')
      const before = await containersOf(direct)
      await endProcess(server, 'SIGKILL')
      await sleep(2_000)
      server = await startServer(plan.programs.keelson, plan.runtime)
      const readyMs = await isInCharge(direct, 'after-kill')
      await sameContainers(before, direct)
      return { podAfterMs: readyMs }
    })
    await check('adoption on a socket swap', async () => {
      const before = await containersOf(direct)
      await endProcess(kubelet, 'SIGTERM')
      const swapped = plan.way !== 'keelson cri'
      if (swapped) server = await startServer(plan.programs.keelson, plan.runtime)
      // Directly, the gate can end CRI-O (defect panic-without-cgroup), whichever kubelet asks.
      const others = !swapped && plan.runtime === 'cri-o' ? { PodAndContainerStatsFromCRI: false } : {}
      kubelet = await startKubelet(plan, swapped ? serverEndpoint : undefined, others)
      await isInCharge(direct, 'after-swap')
      await sameContainers(before, direct)
    })
    await check('pods stop', async () => {
      for (const name of podNames) await rm(join(manifests, `${name}.json`))
      const stoppedMs = await until('no container runs', 90, async () => (await running(direct)).length === 0)
      return { stoppedMs }
    })
  } finally {
    await endProcess(kubelet, 'SIGKILL')
    if (server !== undefined) await endProcess(server, 'SIGKILL')
    direct.close()
  }
}

async function checkLife(plan: CellPlan, direct: CriClient): Promise<void> {
  await check('pods start', async () => {
    await until('the kubelet answers', 180, async () => (await askKubelet('/healthz')) === 'ok')
    await writeFile(join(manifests, 'app.json'), pod('app', ['main']))
    await writeFile(join(manifests, 'pair.json'), pod('pair', ['one', 'two']))
    const startedMs = await until(
      'three containers run',
      180,
      async () => (await running(direct)).length === 3,
    )
    await until('the kubelet shows them running', 60, async () => {
      const { items } = JSON.parse(await askKubelet('/pods')) as { items: { status: { phase: string } }[] }
      return items.length === 2 && items.every((p) => p.status.phase === 'Running')
    })
    return { startedMs }
  })
  await check('exec', async () => {
    const cmd = encodeURIComponent('cat /etc/hostname')
    const text = await askKubelet(`/run/default/app-node-1/main?cmd=${cmd}`, 'POST')
    if (!text.startsWith('app-node-1')) throw new Error(`it printed ${JSON.stringify(text)}`)
  })
  await check('logs', async () => {
    const text = withoutRunc(await askKubelet('/containerLogs/default/pair-node-1/two'))
    if (text !== 'two begins\n') throw new Error(`the log is ${JSON.stringify(text)}`)
  })
  await check('driver from the runtime', () => checkDriver(plan, direct))
  await check('losing support', () => checkLosingSupport(plan))
  await check('Memory QoS values', () => checkMemoryQos(direct))
  await check('evented PLEG', () => checkEvents(plan))
  await check('Stream* calls', async () => {
    if (plan.way === 'directly') throw new NotHere('the runtime is asked directly')
    const client = createCriClient(serverEndpoint, { timeoutMs: 30_000 })
    try {
      return await compareStreams(client)
    } finally {
      client.close()
    }
  })
  await check('restart', async () => {
    const before = await containersOf(direct)
    const [id] = await idsOf(direct, 'main')
    process.kill(await pidOf(direct, id ?? ''), 'SIGKILL')
    const restartedMs = await until('another container runs', 60, async () => {
      const now = await idsOf(direct, 'main')
      return now.length === 1 && now[0] !== id
    })
    const others = (list: string): string =>
      list
        .split('\n')
        .filter((l) => !l.startsWith('main '))
        .join('\n')
    if (others(before) !== others(await containersOf(direct))) throw new Error('another container changed')
    return { restartedMs }
  })
  await check('endpoints complete', () =>
    checkEndpoints().catch((e: unknown) => {
      if (!/make container stats: get filesystem info/.test(String(e))) throw e
      throw new NotHere(
        "the upstream kubelet does not know the file system of CRI-O's layers in this machine",
      )
    }),
  )
}

async function running(direct: CriClient) {
  const { containers } = await direct.runtime.listContainers({})
  return containers.filter((c) => c.state === ContainerState.CONTAINER_RUNNING)
}

const idsOf = async (direct: CriClient, name: string): Promise<string[]> =>
  (await running(direct)).filter((c) => c.metadata?.name === name).map((c) => c.id)

/** Of the pods that stay, one line each. */
const containersOf = async (direct: CriClient): Promise<string> =>
  (await running(direct))
    .filter((c) => podNames.some((p) => c.labels['io.kubernetes.pod.name'] === `${p}-node-1`))
    .map((c) => `${c.metadata?.name} ${c.id}`)
    .sort()
    .join('\n')

async function sameContainers(before: string, direct: CriClient): Promise<void> {
  const now = await containersOf(direct)
  if (now !== before) throw new Error(`before ${before}, now ${now}`)
}

/** A kubelet that is in charge starts a new pod and ends it again; how long the start took. */
async function isInCharge(direct: CriClient, name: string): Promise<number> {
  const file = join(manifests, `${name}.json`)
  await writeFile(file, pod(name, [name]))
  const ms = await until(`pod ${name} runs`, 120, async () => (await idsOf(direct, name)).length === 1)
  await rm(file)
  await until(`pod ${name} is gone`, 60, async () => (await idsOf(direct, name)).length === 0)
  return ms
}

async function pidOf(direct: CriClient, containerId: string): Promise<number> {
  const { info } = await direct.runtime.containerStatus({ containerId, verbose: true })
  const { pid } = JSON.parse(info['info'] ?? '{}') as { pid?: number }
  if (pid === undefined || pid <= 1) throw new Error(`the runtime names no process of ${containerId}`)
  return pid
}

const mainCgroup = async (direct: CriClient): Promise<string> => {
  const [id] = await idsOf(direct, 'main')
  return cgroupOf(await pidOf(direct, id ?? ''))
}

async function checkDriver(plan: CellPlan, direct: CriClient): Promise<unknown> {
  const path = await mainCgroup(direct)
  const found = path.includes('kubepods.slice/') ? 'systemd' : 'cgroupfs'
  if (found !== driverOf(plan.place)) throw new Error(`the container is in ${path}`)
  if (!tellsDriver(plan, plan.way === 'keelson cri'))
    throw new NotHere('this runtime has no RuntimeConfig; the configured driver is used')
  return { driver: found, configured: 'the other one' }
}

async function checkLosingSupport(plan: CellPlan): Promise<unknown> {
  const metrics = await askKubelet('/metrics')
  const shown = /^kubelet_cri_losing_support\{.*\} 1$/m.exec(metrics)?.[0]
  if (tellsDriver(plan, plan.way === 'keelson cri') !== (shown === undefined))
    throw new Error(`the metric is ${shown ?? 'absent'}`)
  return { metric: shown ?? 'absent' }
}

async function checkMemoryQos(direct: CriClient): Promise<unknown> {
  if (!isV2()) throw new NotHere('cgroup v1 has no memory.high')
  const expected = Math.floor((request + (limit - request) * throttlingFactor) / 4096) * 4096
  const found = readCgroupFile(await mainCgroup(direct), 'memory.high')
  if (found !== String(expected)) throw new Error(`memory.high is ${found}, not ${expected}`)
  return { memoryHigh: expected }
}

/** The upstream kubelet counts events; ours lists seldom with them, and each second without. */
async function checkEvents({ client, runtime, way }: CellPlan): Promise<unknown> {
  if (runtime === 'containerd-1.6' && way === 'directly')
    throw new NotHere('this runtime has no GetContainerEvents; the kubelet lists each second')
  const read = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec(await askKubelet('/metrics'))?.[1])
  if (client === 'upstream kubelet') {
    const received = await read('kubelet_evented_pleg_connection_latency_seconds_count')
    const errors = await read('kubelet_evented_pleg_connection_error_count')
    if (!(received >= 5 && errors === 0)) throw new Error(`${received} events, ${errors} failed streams`)
    return { received }
  }
  const before = await read('kubelet_pleg_relist_interval_seconds_count')
  await sleep(8_000)
  const relists = (await read('kubelet_pleg_relist_interval_seconds_count')) - before
  if (!(relists <= 4)) throw new Error(`${relists} relists in 8 s: the kubelet does not use events`)
  return { relistsIn8s: relists }
}

const families = ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes'] as const

const hasRow = (text: string, family: string, container: string): boolean =>
  text.split('\n').some((l) => l.startsWith(`${family}{`) && l.includes(`container="${container}"`))

async function checkEndpoints(): Promise<unknown> {
  let found: Record<string, number> = {}
  await until('every container has values on the three endpoints', 90, async () => {
    const cadvisor = await askKubelet('/metrics/cadvisor')
    await writeFile(join(out, 'cadvisor.txt'), cadvisor)
    const resource = await askKubelet('/metrics/resource')
    const { pods } = JSON.parse(await askKubelet('/stats/summary')) as {
      pods: {
        cpu?: object
        memory?: object
        containers?: { cpu?: object; memory?: object; rootfs?: object }[]
      }[]
    }
    const names = ['main', 'one', 'two']
    const missing = [
      ...families.flatMap((f) => names.filter((n) => !hasRow(cadvisor, f, n)).map((n) => `${f} ${n}`)),
      ...[
        'container_cpu_usage_seconds_total',
        'container_memory_working_set_bytes',
        'container_start_time_seconds',
      ]
        .flatMap((f) => names.filter((n) => !hasRow(resource, f, n)))
        .map((n) => `/metrics/resource ${n}`),
      ...(pods.length === 2 ? [] : [`summary: ${pods.length} pods`]),
      ...pods.flatMap((p) =>
        [p, ...(p.containers ?? [])].filter((x) => !x.cpu || !x.memory).map(() => 'summary'),
      ),
      ...pods.flatMap((p) => (p.containers ?? []).filter((c) => !c.rootfs).map(() => 'rootfs')),
    ]
    if (missing.length > 0) throw new Error(missing.slice(0, 6).join(', '))
    const series = cadvisor.split('\n').filter((l) => /^container_\w+\{.*container="(main|one|two)"/.test(l))
    const keys = series.map((l) => l.slice(0, l.indexOf('} ')))
    if (new Set(keys).size !== keys.length) throw new Error('a series is there twice')
    found = { families: new Set(series.map((l) => l.slice(0, l.indexOf('{')))).size, series: series.length }
    return true
  })
  return found
}

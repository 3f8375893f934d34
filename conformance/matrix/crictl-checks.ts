// A cell whose client is crictl: a pod through its life with nothing but its commands.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { isKeelsonError } from '../../src/core/errors.js'
import { judgeMetrics } from '../critest/metrics-contract.js'
import { driverOf } from '../node-environment/plan.js'
import { runCrictl } from '../peers/crictl.js'
import type { CellPlan } from './cell-plan.js'
import { cgroupOf, isV2, readCgroupFile } from './cgroup-files.js'
import {
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

const memoryHigh = 100 * 1024 * 1024

const parentOf = (plan: CellPlan): string =>
  driverOf(plan.place) === 'systemd' ? 'kubepods-burstable-podcrictl.slice' : '/kubepods/burstable/podcrictl'

async function writeConfigs(plan: CellPlan): Promise<{ pod: string; container: string; again: string }> {
  const logs = join(out, 'crictl-logs')
  await mkdir(logs, { recursive: true })
  const [pod, container, again] = ['pod', 'container', 'again'].map((n) => join(out, `${n}.json`)) as [
    string,
    string,
    string,
  ]
  const names = {
    'io.kubernetes.pod.name': 'crictl',
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': 'crictl',
  }
  await writeFile(
    pod,
    JSON.stringify({
      metadata: { name: 'crictl', uid: 'crictl', namespace: 'default', attempt: 0 },
      hostname: 'crictl',
      log_directory: logs,
      labels: names,
      linux: { cgroup_parent: parentOf(plan) },
    }),
  )
  const format = (attempt: number): string =>
    JSON.stringify({
      metadata: { name: 'main', attempt },
      image: { image },
      command: [
        '/bin/sh',
        '-c',
        'trap "exit 0" TERM; echo begun; echo x > /file; while :; do sleep 0.5; done',
      ],
      log_path: 'main.log',
      labels: { ...names, 'io.kubernetes.container.name': 'main' },
      linux: {
        resources: {
          cpu_period: 100_000,
          cpu_quota: 50_000,
          memory_limit_in_bytes: 128 * 1024 * 1024,
          ...(isV2() ? { unified: { 'memory.high': String(memoryHigh) } } : {}),
        },
      },
    })
  await writeFile(container, format(0))
  await writeFile(again, format(1))
  return { pod, container, again }
}

/** Of the metrics that the runtime declares itself. */
async function namesOf(plan: CellPlan): Promise<ReadonlySet<string>> {
  const client = createCriClient(directEndpoint(plan.runtime), { timeoutMs: 30_000 })
  try {
    const { descriptors } = await client.runtime.listMetricDescriptors({})
    return new Set(descriptors.map((d) => d.name))
  } catch (e) {
    if (isKeelsonError(e) && e.code === 'runtime.unimplemented') return new Set()
    throw e
  } finally {
    client.close()
  }
}

export async function runCrictlCell(plan: CellPlan): Promise<void> {
  const isThrough = plan.way === 'keelson cri'
  let server = isThrough ? await startServer(plan.programs.keelson, plan.runtime) : undefined
  const endpoint = isThrough ? serverEndpoint : directEndpoint(plan.runtime)
  const crictl = async (...args: readonly string[]): Promise<string> =>
    (await runCrictl(plan.programs.crictl, endpoint, args)).trim()
  const client = createCriClient(endpoint, { timeoutMs: 30_000 })
  const files = await writeConfigs(plan)
  let [sandbox, container] = ['', '']
  const events = spawn(
    plan.programs.crictl,
    ['--config', '/dev/null', '-r', endpoint, 'events', '-o', 'json'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let seen = ''
  for (const stream of [events.stdout, events.stderr])
    stream.on('data', (data: Buffer) => {
      seen = (seen + data.toString()).slice(-200_000)
    })
  const start = async (file: string): Promise<void> => {
    container = await crictl('create', sandbox, file, files.pod)
    await crictl('start', container)
  }
  const pid = async (): Promise<number> => {
    const { info } = JSON.parse(await crictl('inspect', container)) as { info: { pid: number } }
    return info.pid
  }
  await check('pods start', async () => {
    await crictl('pull', image)
    await sleep(1_000)
    sandbox = await crictl('runp', files.pod)
    await start(files.container)
    const { containers } = JSON.parse(await crictl('ps', '-o', 'json')) as { containers: { state: string }[] }
    if (containers.length !== 1 || containers[0]?.state !== 'CONTAINER_RUNNING')
      throw new Error(JSON.stringify(containers).slice(0, 300))
  })
  await check('exec', async () => {
    for (const flags of [[], ['-s']]) {
      const text = await crictl('exec', ...flags, container, 'cat', '/etc/hostname')
      if (text !== 'crictl') throw new Error(`it printed ${JSON.stringify(text)}`)
    }
  })
  await check('logs', async () => {
    const text = await crictl('logs', container)
    if (text !== 'begun') throw new Error(`the log is ${JSON.stringify(text)}`)
  })
  await check('driver from the runtime', async () => {
    const path = cgroupOf(await pid())
    const driver = driverOf(plan.place)
    const told = await crictl('runtime-config')
    if (!told.toLowerCase().includes(driver)) throw new Error(`runtime-config says ${told}`)
    if (path.includes('.slice/') !== (driver === 'systemd')) throw new Error(`the container is in ${path}`)
    return { driver }
  })
  await check('Memory QoS values', async () => {
    if (!isV2()) throw new NotHere('cgroup v1 has no memory.high')
    const found = readCgroupFile(cgroupOf(await pid()), 'memory.high')
    if (found !== String(memoryHigh)) throw new Error(`memory.high is ${found}, not ${memoryHigh}`)
    return { memoryHigh }
  })
  await check('restart', async () => {
    const old = container
    await crictl('stop', '--timeout', '2', old)
    await start(files.again)
    await crictl('rm', old)
    if (container === old) throw new Error('the same container')
  })
  await check('evented PLEG', async () => {
    await until('the events of two starts, an end and a removal', 20, async () => {
      const count = (name: string): number => seen.split(`"${name}"`).length - 1
      return (
        count('CONTAINER_STARTED_EVENT') >= 3 &&
        count('CONTAINER_STOPPED_EVENT') >= 1 &&
        count('CONTAINER_DELETED_EVENT') >= 1
      )
    }).catch((e: Error) => {
      throw new Error(`${e.message}: ${seen.slice(-400)}`)
    })
  })
  await check('Stream* calls', () => compareStreams(client))
  await check('endpoints complete', async () => {
    let values = {}
    // Rates need two samples, and layers are measured in the background.
    await until('statsp has cpu, memory and network, stats the layer', 60, async () => {
      const { stats: pods } = JSON.parse(await crictl('statsp', '-o', 'json')) as {
        stats: { linux?: { cpu?: object; memory?: object; network?: object; containers?: object[] } }[]
      }
      const linux = pods[0]?.linux
      const { stats } = JSON.parse(await crictl('stats', '-o', 'json', container)) as {
        stats: { writableLayer?: { usedBytes?: object } }[]
      }
      return (
        linux?.cpu != null &&
        linux.memory != null &&
        linux.network != null &&
        linux.containers?.length === 1 &&
        stats[0]?.writableLayer?.usedBytes != null
      )
    })
    const { descriptors } = await client.runtime.listMetricDescriptors({})
    const { podMetrics } = await client.runtime.listPodSandboxMetrics({})
    const found = podMetrics.find((p) => p.podSandboxId === sandbox)
    if (found === undefined) throw new Error('the pod has no metrics')
    const metrics = [...found.metrics, ...found.containerMetrics.flatMap((c) => c.metrics)]
    const { problems, absent } = judgeMetrics(descriptors, metrics, await namesOf(plan))
    if (problems.length > 0) throw new Error(problems.slice(0, 5).join('; '))
    values = { descriptors: descriptors.length, absentInThisKernel: absent.length }
    return values
  })
  await check('kill of the server', async () => {
    if (server === undefined) throw new NotHere('no server is in between')
    const before = await crictl('ps', '-q')
    await endProcess(server, 'SIGKILL')
    server = await startServer(plan.programs.keelson, plan.runtime)
    if ((await crictl('ps', '-q')) !== before) throw new Error('other containers than before')
  })
  await check('adoption on a socket swap', async () => {
    server ??= await startServer(plan.programs.keelson, plan.runtime)
    const lists = await Promise.all(
      [serverEndpoint, directEndpoint(plan.runtime)].map((e) =>
        runCrictl(plan.programs.crictl, e, ['ps', '-a', '-q']),
      ),
    )
    if (lists[0] !== lists[1]) throw new Error(`the two sockets list ${lists.join(' and ')}`)
  })
  await check('pods stop', async () => {
    await crictl('stopp', sandbox)
    await crictl('rmp', sandbox)
    const left = (await crictl('ps', '-a', '-q')) + (await crictl('pods', '-q'))
    if (left !== '') throw new Error(`left: ${left}`)
  })
  client.close()
  if (events.exitCode === null && events.signalCode === null) {
    events.kill('SIGKILL')
    await once(events, 'close')
  }
  if (server !== undefined) await endProcess(server, 'SIGKILL')
}

// What the values are for, on a real kernel: a hog is slowed down and not killed, and a protected pod keeps its page cache while
// a neighbour fills the machine. Needs two disks, one for files and one for swap.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseFlatKeyed } from '../../../src/core/kernel-text/flat-keyed.js'
import type { MemoryQosSettings } from '../../../src/core/memory-qos/settings.js'
import type { PodResources } from '../../../src/core/pod/pod.js'
import { ContainerState } from '../../../src/cri-api/api.js'
import { FakeLog } from '../../../src/fakes/log.js'
import { createMemoryQos } from '../../../src/memory-qos/memory-qos.js'
import type { MemoryQosEvent } from '../../../src/memory-qos/report.js'
import { createProcessMetrics } from '../../../src/serve/process-metrics.js'
import type { Check } from '../../support/check.js'
import {
  cgroups,
  client,
  clock,
  containerPath,
  gateOff,
  hard,
  type LabPod,
  newEngine,
  nodeInput,
  podOf,
  signal,
  startPod,
  text,
} from './memory-qos-node.js'
import { MiB } from './pod.js'

const disk = '/run/keelson-disk'
const memory = '/run/keelson-memory'
const fileMiB = 200

const run = (file: string, ...args: readonly string[]): string =>
  execFileSync(file, [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const disks = (): readonly [string, string] => {
  const [data, swap] = (process.env['LAB_DISKS'] ?? '').split(/\s+/)
  if (data === undefined || swap === undefined) throw new Error('two disks are needed')
  return [data, swap]
}

const counts = (path: string, file: string): ReadonlyMap<string, bigint> =>
  parseFlatKeyed(cgroups.read(path, file) ?? new Uint8Array())
const count = (path: string, file: string, key: string): number => Number(counts(path, file).get(key) ?? 0n)
const numberOf = (path: string, file: string): number => Number(text(path, file) ?? 0)

const linesOf = (pod: string, container: string): string[] =>
  readFileSync(`/tmp/pod-logs/${pod}/${container}.log`, 'utf8')
    .split('\n')
    .filter((line) => line !== '')

async function settle(pods: readonly PodResources[], memoryQos: MemoryQosSettings): Promise<void> {
  const report = await newEngine().pass({ ...nodeInput(memoryQos), pods }, { signal })
  assert.equal(report.failures, 0, JSON.stringify(report.findings))
}

/** request 16Mi, limit 256Mi, factor 0.5: memory.high is 136Mi, and the hog wants 200Mi. */
const halfway: MemoryQosSettings = { ...hard, factor: 0.5 }
const high = 136 * MiB
const hogPod = (name: string): PodResources =>
  podOf(name, {
    containers: [{ name: 'hog', resources: { requests: { memory: '16Mi' }, limits: { memory: '256Mi' } } }],
  })

/** Memory QoS as a kubelet holds it, for what it says about a pod. */
async function watchedBy(pod: PodResources) {
  const events: MemoryQosEvent[] = []
  const metrics = await createProcessMetrics({ processDefaults: false })
  const memoryQos = createMemoryQos({
    cgroups,
    runtime: client().runtime,
    clock,
    timeoutMs: 60_000,
    ownsOtherFiles: () => false,
    log: new FakeLog(),
    metrics,
    event: (e) => events.push(e),
    node: () => nodeInput(halfway),
    pods: () => [pod],
    signal,
  })
  const labels = `{namespace="lab",pod="${pod.name}",container="hog"}`
  const throttled = async (): Promise<number> => {
    const { body } = await metrics.text()
    const start = `kubelet_memory_qos_throttle_events_total${labels} `
    return Number(
      body
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.slice(start.length),
    )
  }
  return { memoryQos, events, throttled }
}

async function startHog(name: string, swapLimit: bigint): Promise<{ pod: LabPod; path: string; id: string }> {
  const pod = await startPod(hogPod(name), {
    command: ['/bin/sh', '-c', 'sleep 3; exec hog 200 100'],
    swapLimit,
  })
  await settle([pod.pod], halfway)
  const path = await containerPath(pod, 'hog')
  assert.equal(numberOf(path, 'memory.high'), high)
  return { pod, path, id: pod.ids.get('hog') ?? '' }
}

const keepPod = podOf('keep', {
  containers: [{ name: 'app', resources: { requests: { memory: '150Mi' }, limits: { memory: '400Mi' } } }],
})
const noisyPod = podOf('noisy', { containers: [{ name: 'app' }] })

/** The share of the page cache that is left after a neighbour filled the machine. */
async function keptShare(
  memoryQos: MemoryQosSettings,
): Promise<{ readonly before: number; readonly kept: number }> {
  const mounts = [{ containerPath: '/data', hostPath: disk }]
  const keep = await startPod(keepPod, { mounts })
  try {
    await settle([keepPod], memoryQos)
    const path = await containerPath(keep, 'app')
    run('sync')
    writeFileSync('/proc/sys/vm/drop_caches', '3')
    // Read once: pages that were used only once go first, as in a machine that has better things to keep.
    const cmd = ['/bin/sh', '-c', 'cat /data/keep.bin > /dev/null']
    await client().runtime.execSync({ containerId: keep.ids.get('app') ?? '', cmd, timeout: 60n })
    const before = count(path, 'memory.stat', 'file')
    const total = Number(nodeInput(memoryQos).node.memoryCapacity) / MiB
    const fill = Math.round(total * 0.95)
    const noisy = await startPod(noisyPod, {
      mounts: [{ containerPath: '/mem', hostPath: memory }],
      command: ['/bin/sh', '-c', `dd if=/dev/zero of=/mem/fill bs=1M count=${fill}`],
    })
    try {
      const containerId = noisy.ids.get('app') ?? ''
      for (const end = Date.now() + 150_000; ; await sleep(250)) {
        const { status } = await client().runtime.containerStatus({ containerId })
        if (status?.state === ContainerState.CONTAINER_EXITED) {
          assert.equal(status.exitCode, 0, JSON.stringify(linesOf('noisy', 'app')))
          break
        }
        assert.ok(Date.now() < end, 'the neighbour never ended')
      }
      return { before, kept: count(path, 'memory.stat', 'file') / before }
    } finally {
      await noisy.remove()
      run('rm', '-f', `${memory}/fill`)
    }
  } finally {
    await keep.remove()
  }
}

export const checks: readonly Check[] = [
  {
    name: 'the machine has a disk with files and no swap yet',
    timeoutMs: 120_000,
    run() {
      const [data] = disks()
      run('mkfs.ext4', '-q', '-F', data)
      for (const at of [disk, memory]) mkdirSync(at, { recursive: true })
      run('mount', data, disk)
      run('mount', '-t', 'tmpfs', '-o', 'size=2g', 'tmpfs', memory)
      run('dd', 'if=/dev/zero', `of=${disk}/keep.bin`, 'bs=1M', `count=${fileMiB}`)
      run('swapoff', '-a')
    },
  },
  {
    name: 'a hog over memory.high without swap: slowed down, not killed, near memory.high, answers a signal',
    timeoutMs: 120_000,
    async run() {
      const { pod, path, id } = await startHog('hog', 0n)
      const watched = await watchedBy(pod.pod)
      await watched.memoryQos.passNow()
      const told = { events: watched.events.length, counter: await watched.throttled() }
      for (const end = Date.now() + 60_000; count(path, 'memory.events', 'high') <= 100; await sleep(250))
        assert.ok(Date.now() < end, `high rose to ${count(path, 'memory.events', 'high')} only`)
      await watched.memoryQos.passNow()
      await sleep(3000)
      await watched.memoryQos.passNow()
      const events = counts(path, 'memory.events')
      const resident = count(path, 'memory.stat', 'anon')
      const started = Date.now()
      await client().runtime.stopContainer({ containerId: id, timeout: 20n })
      const answeredMs = Date.now() - started
      const { status } = await client().runtime.containerStatus({ containerId: id })
      await pod.remove()
      assert.equal(events.get('oom_kill'), 0n)
      assert.ok((events.get('high') ?? 0n) > 100n)
      assert.ok(Math.abs(resident - high) <= high / 10, `${resident} of ${high}`)
      assert.ok(answeredMs < 5000, `${answeredMs} ms`)
      assert.notEqual(status?.exitCode, 137)
      // An event with the first throttle and no second one; the counter goes on.
      assert.deepEqual(told, { events: 0, counter: 0 })
      assert.deepEqual(
        watched.events.map((e) => [e.reason, e.pod?.namespace, e.pod?.name]),
        [['MemoryThrottled', 'lab', 'hog']],
      )
      const counted = await watched.throttled()
      assert.ok(counted > 100 && counted <= Number(events.get('high')), String(counted))
      return { high: events.get('high'), residentShare: resident / high, answeredMs }
    },
  },
  {
    name: 'page cache of a pod under pressure: kept with HardReservation, lost without',
    timeoutMs: 400_000,
    async run() {
      const [, swap] = disks()
      run('mkswap', swap)
      run('swapon', swap)
      const without = await keptShare(gateOff)
      const withMin = await keptShare({ ...hard, factor: undefined })
      assert.ok(without.before >= fileMiB * MiB * 0.9, `only ${without.before} bytes were cached`)
      assert.ok(without.kept < 0.15, `kept ${without.kept} without protection`)
      assert.ok(withMin.kept >= 0.6, `kept ${withMin.kept} with protection`)
      return { keptWithout: without.kept, keptWith: withMin.kept }
    },
  },
  {
    name: 'a hog over memory.high with swap makes progress',
    timeoutMs: 150_000,
    async run() {
      const { pod, path } = await startHog('swapped', BigInt(1024 * MiB))
      cgroups.write(path, 'memory.swap.max', String(600 * MiB))
      const passes = (): number => linesOf('swapped', 'hog').length
      for (const end = Date.now() + 120_000; passes() < 2; await sleep(500))
        assert.ok(Date.now() < end, `${passes()} passes, swap ${text(path, 'memory.swap.current')}`)
      const oomKills = count(path, 'memory.events', 'oom_kill')
      const swapMiB = numberOf(path, 'memory.swap.current') / MiB
      await pod.remove()
      assert.equal(oomKills, 0)
      assert.ok(swapMiB > 20, `${swapMiB} MiB in swap`)
      return { swapMiB }
    },
  },
]

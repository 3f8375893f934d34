// Real pods through the runtime and through their cgroups: counters within 1 %, gauges within 5 % or 1 MiB, limits and
// counts exact; and /metrics/cadvisor with every family that this kernel can fill.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { type CgroupFsTree, createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { createClock } from '../../../src/adapters/clock/clock.js'
import { createProcfs } from '../../../src/adapters/procfs/procfs.js'
import { createStatsFiles } from '../../../src/adapters/stats-files/stats-files.js'
import { FakeLog } from '../../../src/fakes/log.js'
import { createProcessMetrics } from '../../../src/serve/process-metrics.js'
import { createStats, type Stats } from '../../../src/stats/create-stats.js'
import { decodePieces } from '../../../src/stats/render/text-bytes.js'
import type { Check } from '../../support/check.js'
import { type ReadSeries, readExposition } from '../../support/exposition.js'
import { client } from './cri-common.js'
import { MiB, type RunningPod, removePod, runPod } from './pod.js'
import { commandChecks } from './stats-commands.js'

/** Works for a while, so that there is processor time to compare, and then rests, so that it stands still. */
const workThenRest = [
  '/bin/sh',
  '-c',
  'trap "exit 0" TERM; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/tmp/f bs=1M count=8 2>/dev/null; while :; do sleep 1000 & wait $!; done',
] as const

const pods: RunningPod[] = []
const names = ['stats-a', 'stats-b']
const limit = BigInt(96 * MiB)

interface Running {
  readonly stats: Stats
  readonly tree: CgroupFsTree
  readonly stop: AbortController
  readonly done: Promise<void>
}
const running: Record<'cri' | 'cgroup', Running | undefined> = { cri: undefined, cgroup: undefined }

async function start(fromCri: boolean): Promise<Running> {
  const tree = createCgroupTree(readCgroupLayout())
  const stats = createStats({
    nodeName: 'lab',
    client: client(),
    cgroups: tree,
    procfs: createProcfs(),
    files: createStatsFiles(),
    clock: createClock(),
    log: new FakeLog(),
    metrics: await createProcessMetrics({ processDefaults: false }),
    fromCri,
    periodMs: 2_000,
    filesystemPeriodMs: 2_000,
  })
  const stop = new AbortController()
  return { stats, tree, stop, done: stats.run(stop.signal) }
}

const of = (source: 'cri' | 'cgroup'): Stats => {
  const one = running[source]
  if (one === undefined) throw new Error('not started: an earlier check failed')
  return one.stats
}

const resource = async (source: 'cri' | 'cgroup'): Promise<ReadSeries[]> =>
  readExposition(decodePieces(await of(source).resource(10_000)))
const cadvisor = async (): Promise<ReadSeries[]> =>
  readExposition(decodePieces(await of('cgroup').cadvisor(10_000)))

interface SummaryPod {
  readonly podRef: { readonly name: string }
  readonly network?: { readonly name: string; readonly rxBytes: number; readonly txBytes: number }
  readonly process_stats?: { readonly process_count: number }
  readonly memory: { readonly workingSetBytes: number }
  readonly containers: readonly {
    readonly cpu: { readonly usageCoreNanoSeconds: number; readonly usageNanoCores?: number }
    readonly memory: {
      readonly workingSetBytes: number
      readonly usageBytes: number
      readonly rssBytes: number
      readonly pageFaults: number
      readonly availableBytes?: number
    }
    readonly rootfs?: { readonly usedBytes: number; readonly capacityBytes?: number }
  }[]
}
const summary = async (source: 'cri' | 'cgroup'): Promise<SummaryPod[]> => {
  const { pods: all } = JSON.parse(decodePieces(await of(source).summary(true, 10_000))) as {
    pods: SummaryPod[]
  }
  return all.filter((p) => names.includes(p.podRef.name))
}

function near(what: string, a: number, b: number, share: number, absolute: number): void {
  const apart = Math.abs(a - b)
  assert.ok(apart <= Math.max(share * Math.max(a, b), absolute), `${what}: ${a} and ${b}`)
}
const counter = (what: string, a: number, b: number): void => near(what, a, b, 0.01, 0)
const gauge = (what: string, a: number, b: number): void => near(what, a, b, 0.05, MiB)

export const checks: readonly Check[] = [
  {
    name: 'two pods run, both sources are started',
    async run() {
      for (const name of names)
        pods.push(
          await runPod(client(), {
            name,
            cgroupParent: `/kubepods/burstable/pod${name}`,
            command: workThenRest,
            resources: { memoryLimitInBytes: limit, cpuShares: 256n, cpuQuota: 50_000n, cpuPeriod: 100_000n },
          }),
        )
      running.cri = await start(true)
      running.cgroup = await start(false)
      // Both rest by now: processor time stands still while it is compared.
      await sleep(process.env.LAB_OUT === undefined ? 8_000 : 15_000)
    },
  },
  {
    name: 'each endpoint says where its values come from',
    async run() {
      await resource('cri')
      const { stats, metrics } = of('cri').describe()
      assert.deepEqual([stats.source, stats.runtime], ['cri', 'in-use'])
      // containerd 1.6 has no metrics RPCs.
      assert.deepEqual([metrics.source, metrics.runtime], ['cgroup', 'unsupported'])
      assert.equal(of('cgroup').describe().stats.source, 'cgroup')
    },
  },
  {
    name: '/metrics/resource: counters within 1 %, gauges within 5 % or 1 MiB',
    async run() {
      const [a, b] = await Promise.all([resource('cri'), resource('cgroup')])
      const key = (s: ReadSeries): string => `${s.name} ${JSON.stringify(s.labels)}`
      const ours = (all: readonly ReadSeries[]): ReadSeries[] =>
        all.filter((s) => names.includes(s.labels.pod ?? '') && /cpu|working_set/.test(s.name))
      assert.deepEqual(ours(a).map(key).sort(), ours(b).map(key).sort())
      const other = new Map(ours(b).map((s) => [key(s), Number(s.value)]))
      assert.ok(ours(a).length >= 8, `${ours(a).length} series`)
      for (const s of ours(a)) {
        const compare = s.name.includes('cpu') ? counter : gauge
        compare(key(s), Number(s.value), other.get(key(s)) ?? Number.NaN)
      }
      return { series: ours(a).length }
    },
  },
  {
    name: '/stats/summary: the same pods, values and limits',
    async run() {
      const [a, b] = await Promise.all([summary('cri'), summary('cgroup')])
      assert.deepEqual(
        a.map((p) => p.podRef.name),
        names,
      )
      assert.deepEqual(
        b.map((p) => p.podRef.name),
        names,
      )
      for (const [i, x] of a.entries()) {
        const y = b[i]
        const [c, d] = [x.containers[0], y?.containers[0]]
        assert.ok(y !== undefined && c !== undefined && d !== undefined)
        counter('cpu', c.cpu.usageCoreNanoSeconds, d.cpu.usageCoreNanoSeconds)
        gauge('working set', c.memory.workingSetBytes, d.memory.workingSetBytes)
        gauge('usage', c.memory.usageBytes, d.memory.usageBytes)
        gauge('rss', c.memory.rssBytes, d.memory.rssBytes)
        counter('page faults', c.memory.pageFaults, d.memory.pageFaults)
        gauge('available', c.memory.availableBytes ?? Number.NaN, d.memory.availableBytes ?? Number.NaN)
        // What is left plus the working set is the limit, exactly.
        assert.equal((d.memory.availableBytes ?? 0) + d.memory.workingSetBytes, Number(limit))
        // containerd leaves the sandbox's own process out of its sum; the kernel's count has it.
        assert.equal((x.process_stats?.process_count ?? 0) + 1, y.process_stats?.process_count)
        assert.equal(x.network?.name, y.network?.name)
        near('received', x.network?.rxBytes ?? Number.NaN, y.network?.rxBytes ?? Number.NaN, 0.01, 1_000)
        assert.notEqual(c.cpu.usageNanoCores, undefined)
        assert.notEqual(d.cpu.usageNanoCores, undefined)
        assert.ok((d.rootfs?.usedBytes ?? 0) >= 8 * MiB, `writable layer: ${d.rootfs?.usedBytes}`)
        assert.ok((d.rootfs?.capacityBytes ?? 0) > 0)
      }
    },
  },
  {
    name: '/metrics/cadvisor: rows, limits and every family that this kernel has',
    async run() {
      const all = await cadvisor()
      const main = all.filter((s) => s.labels.pod === 'stats-a' && s.labels.container === 'main')
      const value = (name: string): string | undefined => main.find((s) => s.name === name)?.value
      assert.equal(value('container_spec_memory_limit_bytes'), limit.toString())
      assert.equal(value('container_spec_cpu_quota'), '50000')
      assert.equal(value('container_spec_cpu_period'), '100000')
      assert.equal(value('container_processes'), '2')
      assert.ok(main.every((s) => s.labels.image !== '' && s.labels.namespace === 'default'))
      const pod = all.filter((s) => s.labels.pod === 'stats-a' && s.labels.container === '')
      assert.ok(pod.every((s) => s.labels.image === '' && s.labels.id === '/kubepods/burstable/podstats-a'))
      assert.ok(pod.some((s) => s.name === 'container_network_receive_bytes_total'))
      const families = new Set(all.filter((s) => s.labels.pod === 'stats-a').map((s) => s.name))
      for (const name of [
        'container_cpu_cfs_periods_total',
        'container_cpu_cfs_throttled_seconds_total',
        'container_cpu_usage_seconds_total',
        'container_file_descriptors',
        'container_fs_usage_bytes',
        'container_fs_limit_bytes',
        'container_last_seen',
        'container_memory_failures_total',
        'container_memory_kernel_usage',
        'container_memory_working_set_bytes',
        'container_oom_events_total',
        'container_sockets',
        'container_spec_cpu_shares',
        'container_start_time_seconds',
        'container_threads',
        'container_ulimits_soft',
      ])
        assert.ok(families.has(name), `${name} is missing`)
      return { series: all.length, families: new Set(all.map((s) => s.name)).size, ofOnePod: families.size }
    },
  },
  ...commandChecks(names),
  {
    name: 'a container that ends is gone from the next sample',
    async run() {
      const [pod] = pods
      assert.ok(pod !== undefined)
      await client().runtime.stopContainer({ containerId: pod.containerId, timeout: 0n })
      await sleep(4_500)
      const left = (await cadvisor()).filter(
        (s) => s.labels.pod === 'stats-a' && s.labels.container === 'main',
      )
      assert.deepEqual(left, [])
    },
  },
  {
    name: 'all ends cleanly',
    async run() {
      for (const one of [running.cri, running.cgroup]) {
        one?.stop.abort(new Error('over'))
        await one?.done
        one?.tree.close()
      }
      for (const pod of pods) await removePod(client(), pod)
    },
  },
]

// Debian's Prometheus scrapes a real kubelet with real pods for more than two minutes, with and without the node's own
// timestamps, while the kubelet is restarted with the gate on, off and on, and a container of a pod ends and comes back.
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PodNode, shell, until } from '../kubelet/node.js'
import { running } from '../kubelet/use-node.js'
import { mixinQueries, mixinRules } from '../prometheus/mixin.js'
import { type Prometheus, type Sampled, startPrometheus } from '../prometheus/server.js'
import { type RunningCommand, startCommand } from '../support/command.js'
import { missingRequirement, requires } from '../support/requirements.js'

const needs = {
  root: true,
  packages: ['containerd', 'images'],
  commands: ['prometheus', 'promtool'],
} as const
const INTERVAL_S = 10
/** containerd 1.6 has no metrics calls: `keelson cri` in front of it has, so that the gate moves all three endpoints. */
const gate = (on: boolean): string[] => [
  `--feature-gates=PodAndContainerStatsFromCRI=${on}`,
  `--container-runtime-endpoint=unix://${socket()}`,
]
const socket = (): string => join(node.directory, 'cri.sock')
/** Above its quota, so that it is throttled; writes to the disk, so that there is I/O. */
const busy =
  'trap "exit 0" TERM; while :; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; dd if=/dev/zero of=/f bs=64k count=4 oflag=direct 2>/dev/null; dd if=/f of=/dev/null bs=64k iflag=direct 2>/dev/null; sleep 0.2; done'
const calm =
  'trap "exit 0" TERM; while :; do dd if=/dev/zero of=/f bs=64k count=1 oflag=direct 2>/dev/null; sleep 1; done'
const limits = { resources: { limits: { cpu: '20m', memory: '64Mi' } } }
const pods = ['steady', 'restarted']
const jobs = ['kubelet', 'kubelet-stamped', 'resource', 'resource-stamped']

let node: PodNode
let prometheus: Prometheus
let exporter: Server
let cri: RunningCommand
let first: readonly Sampled[] = []
const downtimes: number[] = []
let started = 0

/** kube-state-metrics in one line for each pod. */
function startPodInfo(): Promise<Server> {
  const body = pods
    .map((p) => `kube_pod_info{namespace="default",pod="${p}-node-1",node="node-1",uid="${p}"} 1\n`)
    .join('')
  const server = createServer((_, res) => res.writeHead(200, { 'content-type': 'text/plain' }).end(body))
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

/** Ends the kubelet and starts it with other flags; keeps how long it was away. */
async function restart(flags: readonly string[]): Promise<void> {
  const began = performance.now()
  await node.stop()
  await node.start(flags)
  downtimes.push((performance.now() - began) / 1000)
}

/** On cgroup v1, newer kernels count the I/O of a device only where a limit is set; this one is never reached. */
function countDiskIo(): void {
  if (node.cgroups.version === 'v2') return
  const { dev } = statSync(node.containerd.dir)
  const limit = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)} 1000000000000`
  for (const path of node.cgroups.walk(node.cgroupRoot).filter((p) => /\/[0-9a-f]{64}$/.test(p)))
    for (const direction of ['read', 'write'])
      node.cgroups.write(path, `blkio.throttle.${direction}_bps_device`, limit)
}

/** Where the kubelet says that stats and metrics come from. */
async function sources(): Promise<(string | null)[]> {
  const { keelson } = JSON.parse((await node.ask('/configz')).body) as {
    readonly keelson: { readonly stats: Record<'stats' | 'metrics', { readonly source: string | null }> }
  }
  return [keelson.stats.stats.source, keelson.stats.metrics.source]
}

const seriesOf = async (job: string): Promise<readonly Sampled[]> =>
  (await prometheus.query(`{job="${job}",__name__!="up",__name__!~"scrape_.*"}`)).filter(
    (s) => s.labels.pod?.startsWith('steady') === true,
  )

describe.sequential('a kubelet that Prometheus scrapes', () => {
  beforeAll(async () => {
    if (missingRequirement(needs) !== undefined) return
    node = await PodNode.create()
    cri = startCommand([
      node.main,
      'cri',
      `--runtime-endpoint=${node.containerd.endpoint}`,
      `--listen=unix://${socket()}`,
      '--port=0',
      '--healthz-port=0',
    ])
    await cri.says('CRI server started', 60_000)
    await node.start(gate(true))
    for (const name of pods)
      await node.pod(name, { containers: [shell('app', busy, limits), shell('calm', calm)] })
    for (const name of pods) await running(node, name)
    countDiskIo()
    exporter = await startPodInfo()
    const address = exporter.address()
    const kubelet = (name: string, path: string) => ({
      name,
      path,
      port: node.serverPort,
      scheme: 'https' as const,
      tokenFile: node.tokenFile,
      honorTimestamps: name.endsWith('-stamped'),
    })
    prometheus = await startPrometheus(
      node.directory,
      [
        kubelet('kubelet', '/metrics/cadvisor'),
        kubelet('kubelet-stamped', '/metrics/cadvisor'),
        kubelet('resource', '/metrics/resource'),
        kubelet('resource-stamped', '/metrics/resource'),
        {
          name: 'kube-state-metrics',
          path: '/metrics',
          port: typeof address === 'object' && address !== null ? address.port : 0,
          scheme: 'http',
          honorTimestamps: true,
        },
      ],
      { intervalS: INTERVAL_S, rules: mixinRules },
    )
    started = performance.now()
  }, 180_000)
  afterAll(async () => {
    await prometheus?.close()
    exporter?.close()
    await node?.stop()
    await cri?.end()
    await node?.close()
  }, 90_000)
  beforeEach((ctx) => requires(ctx, needs))

  test('two minutes with restarts: gate on, off, on, and a container that comes back', {
    timeout: 240_000,
  }, async () => {
    await until(
      'every target was scraped',
      async () => {
        const targets = await prometheus.targets()
        return targets.length > jobs.length && targets.every((t) => t.health === 'up')
      },
      40_000,
    )
    await sleep(12_000)
    first = await seriesOf('kubelet')
    expect(first.length).toBeGreaterThan(80)
    expect(await sources()).toEqual(['cri', 'cri'])
    await restart(gate(false))
    await sleep(24_000)
    expect(await sources()).toEqual(['cgroup', 'cgroup'])
    const [container] = (await node.containers('restarted')).filter((c) => c.metadata?.name === 'app')
    if (container === undefined) throw new Error('the pod has no container')
    await node.cri.runtime.stopContainer({ containerId: container.id, timeout: 1n })
    await sleep(12_000)
    await restart(gate(true))
    await sleep(30_000)
    expect(await sources()).toEqual(['cri', 'cri'])
    await until('two minutes are over', () => performance.now() - started > 125_000, 130_000)
    console.log(`the kubelet was away for ${downtimes.map((s) => s.toFixed(1)).join(' and ')} s`)
  })

  test('no scrape failed outside the restarts', async () => {
    expect((await prometheus.targets()).filter((t) => t.health !== 'up')).toEqual([])
    for (const job of jobs) {
      const [ups] = await prometheus.query(`up{job="${job}"}[3m]`)
      const failed = ups?.values.filter(([, value]) => value !== 1).length ?? Number.NaN
      const allowed = downtimes.reduce((sum, s) => sum + Math.ceil(s / INTERVAL_S), 0)
      expect(ups?.values.length, job).toBeGreaterThanOrEqual(12)
      expect(failed, `failed scrapes of ${job}`).toBeLessThanOrEqual(allowed)
    }
  })

  test('no sample out of order, none twice, none out of bounds', async () => {
    for (const what of ['out_of_order', 'duplicate_timestamp', 'out_of_bounds'])
      expect(await prometheus.own(`prometheus_target_scrapes_sample_${what}_total`), what).toBe(0)
  })

  test('no series of the pod that stayed was gone for longer than one scrape', async () => {
    const away = Math.max(...downtimes)
    for (const job of ['kubelet', 'kubelet-stamped']) {
      const all = (await prometheus.query(`{job="${job}",pod="steady-node-1"}[3m]`)).filter(
        // Background work once a minute has times of its own.
        (s) => !/^container_fs_(usage|limit|inodes)/.test(s.labels.__name__ ?? '') || job === 'kubelet',
      )
      expect(all.length).toBeGreaterThanOrEqual(first.length - 20)
      const gaps = all.map((s) => ({
        name: `${s.labels.__name__} ${s.labels.container}`,
        gap: Math.max(...s.values.slice(1).map(([time], i) => time - (s.values[i]?.[0] ?? 0))),
      }))
      // One scrape may be missed, by a restart; with the node's own times the sample may be a period old as well.
      const most = 2 * INTERVAL_S + Math.max(0, away - INTERVAL_S) + (job === 'kubelet' ? 1 : INTERVAL_S + 1)
      expect(gaps.filter(({ gap }) => gap > most)).toEqual([])
    }
    const now = new Set((await seriesOf('kubelet')).map((s) => JSON.stringify(s.labels)))
    expect(first.filter((s) => !now.has(JSON.stringify(s.labels))).map((s) => s.labels)).toEqual([])
  })

  test('the container that came back is there once, and its former self is gone', async () => {
    const found = await prometheus.query(
      'count by (namespace, pod, container) (container_memory_working_set_bytes{job="kubelet",container!=""})',
    )
    expect(found.map((s) => s.values[0]?.[1])).toEqual(found.map(() => 1))
    expect(found).toHaveLength(4)
    const ids = await prometheus.query(
      'count(count by (name) (count_over_time(container_memory_working_set_bytes{job="kubelet",pod="restarted-node-1",container="app"}[3m])))',
    )
    expect(ids[0]?.values[0]?.[1]).toBe(2)
  })

  test("the mixin's rules work, and its queries answer for all 17 metrics", async () => {
    expect((await prometheus.rules()).filter((r) => r.health !== 'ok')).toEqual([])
    const names = Object.keys(mixinQueries)
    expect(names).toHaveLength(17)
    for (const name of names) {
      const answer = await prometheus.query(mixinQueries[name] ?? '')
      expect(answer.length, name).toBeGreaterThan(0)
      expect(
        answer.every((s) => Number.isFinite(s.values[0]?.[1])),
        name,
      ).toBe(true)
    }
    const joined = await prometheus.query('node_namespace_pod_container:container_memory_working_set_bytes')
    expect(new Set(joined.map((s) => `${s.labels.pod} on ${s.labels.node}`))).toEqual(
      new Set(pods.map((p) => `${p}-node-1 on node-1`)),
    )
    const throttled = await prometheus.query('ALERTS{alertname="CPUThrottlingHigh",container="app"}')
    expect(throttled.length).toBeGreaterThan(0)
  })

  test('keelson doctor parity: the runtime and the cgroups agree on these pods', async () => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [node.main, 'doctor', 'parity', '-o', 'json', `--runtime-endpoint=unix://${socket()}`],
      { encoding: 'utf8', timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
    )
    const report = JSON.parse(stdout || stderr) as {
      readonly notCompared: readonly object[]
      readonly families: readonly { readonly name: string; readonly result: string }[]
    }
    expect(report.notCompared).toEqual([])
    expect(report.families.length).toBeGreaterThan(80)
    expect(report.families.filter((f) => f.result !== 'same')).toEqual([])
  })

  test('promtool reports nothing but the names on the docs page', async () => {
    const docs = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
    for (const path of ['/metrics/cadvisor', '/metrics/resource']) {
      const { body } = await node.ask(path)
      const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: body,
        encoding: 'utf8',
      })
      const lines = `${stdout}${stderr}`.split('\n').filter((l) => l !== '')
      expect(
        lines.filter(
          (l) => !docs.includes(`| \`${l.split(' ', 1)[0]}\` | ${l.split(' ').slice(1).join(' ')} |`),
        ),
      ).toEqual([])
    }
  })
})

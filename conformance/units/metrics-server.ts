// metrics-server's own client and decoder on /metrics/resource of a real kubelet with real pods, twice, as it scrapes.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PodNode, shell, until } from '../../test/kubelet/node.js'
import { readExposition } from '../../test/support/exposition.js'
import { missingRequirement } from '../../test/support/requirements.js'
import { runCommand } from '../process.js'
import type { Unit, UnitContext } from '../unit.js'

/** What the decoder kept. Start and time are milliseconds; the rest is cumulative nanoseconds and bytes. */
interface Point {
  readonly Start: number
  readonly Time: number
  readonly CPU: string
  readonly Memory: string
}

interface Batch {
  readonly Nodes: Readonly<Record<string, Point>>
  readonly Pods: Readonly<Record<string, Readonly<Record<string, Point>>>>
}

const busy =
  'trap "exit 0" TERM; while :; do i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; sleep 0.1; done'
const pods = ['web', 'db']
const podKey = (name: string): string => `default/${name}-node-1`
const SCRAPE_MS = 15_000

async function decode(context: UnitContext, node: PodNode): Promise<Batch> {
  const { stdout } = await runCommand(
    context.peer('metrics-server-client'),
    [
      '-node=node-1',
      `-port=${node.serverPort}`,
      `-token-file=${node.tokenFile}`,
      `-ca-file=${join(node.rootDir, 'pki/kubelet.crt')}`,
    ],
    { timeoutMs: 30_000 },
  )
  return JSON.parse(stdout) as Batch
}

const points = (batch: Batch): readonly (readonly [string, Point])[] => [
  ...Object.entries(batch.Nodes),
  ...Object.entries(batch.Pods).flatMap(([pod, containers]) =>
    Object.entries(containers).map(([name, point]) => [`${pod}/${name}`, point] as const),
  ),
]

async function runGate(context: UnitContext, node: PodNode, on: boolean): Promise<void> {
  const title = `gate ${on ? 'on' : 'off'}`
  let first: Batch | undefined
  await context.check(`${title}: the decoder keeps the node and every container`, async () => {
    first = await until(
      'both pods are in an answer',
      async () => {
        const batch = await decode(context, node)
        return pods.every((p) => batch.Pods[podKey(p)] !== undefined) && batch
      },
      60_000,
    )
    assert.deepEqual(Object.keys(first.Nodes), ['node-1'])
    assert.deepEqual(Object.keys(first.Pods).sort(), pods.map(podKey).sort())
    for (const p of pods)
      assert.deepEqual(Object.keys(first.Pods[podKey(p)] ?? {}).sort(), ['app', 'sidecar'])
    for (const [name, point] of points(first)) {
      assert.ok(BigInt(point.CPU) > 0n && BigInt(point.Memory) > 0n, `${name} has no values`)
      assert.ok(Math.abs(Date.now() - point.Time) < 30_000, `${name} is of ${point.Time}`)
    }
  })
  await context.check(`${title}: it read the very numbers that were printed`, async () => {
    // The answers on both sides of the decoder's own must have its numbers between them.
    const print = async () => {
      const series = readExposition((await node.ask('/metrics/resource')).body)
      return (name: string, pod: string, container: string): number =>
        Number(
          series.find((s) => s.name === name && s.labels.pod === pod && s.labels.container === container)
            ?.value,
        )
    }
    const before = await print()
    const batch = await decode(context, node)
    const after = await print()
    for (const p of pods)
      for (const c of ['app', 'sidecar']) {
        const at = [`container_cpu_usage_seconds_total`, `${p}-node-1`, c] as const
        const seconds = Number(batch.Pods[podKey(p)]?.[c]?.CPU) / 1e9
        assert.ok(
          seconds >= before(...at) - 1e-6 && seconds <= after(...at) + 1e-6,
          `${seconds} of ${at.join(' ')}`,
        )
        const start = before('container_start_time_seconds', `${p}-node-1`, c) * 1_000
        assert.ok(Math.abs((batch.Pods[podKey(p)]?.[c]?.Start ?? 0) - start) <= 1, 'start time')
      }
  })
  await context.check(
    `${title}: the next scrape has newer times and more processor time, so that there is a rate`,
    async () => {
      assert.ok(first !== undefined)
      await sleep(SCRAPE_MS)
      const second = new Map(points(await decode(context, node)))
      for (const [name, point] of points(first)) {
        const later = second.get(name)
        assert.ok(
          later !== undefined && later.Time > point.Time,
          `${name}: ${point.Time}, then ${later?.Time}`,
        )
        assert.ok(BigInt(later.CPU) > BigInt(point.CPU), `${name}: no more processor time`)
      }
    },
  )
}

export const metricsServer: Unit = {
  name: 'metrics-server',
  summary: "metrics-server's client and decoder on /metrics/resource of a real kubelet (KEP-2371)",
  peers: ['metrics-server-client'],
  async run(context) {
    const missing = missingRequirement({ root: true, packages: ['containerd', 'images'] })
    if (missing !== undefined) return context.skip('a node with pods', missing)
    const node = await PodNode.create()
    context.defer(() => node.close())
    for (const name of pods)
      await node.pod(name, { containers: [shell('app', busy), shell('sidecar', busy)] })
    for (const on of [false, true]) {
      await node.start([`--feature-gates=PodAndContainerStatsFromCRI=${on}`])
      await runGate(context, node, on)
      await node.stop()
    }
  },
}

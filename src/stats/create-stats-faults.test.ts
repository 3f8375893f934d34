// Runtimes that misbehave, over a real socket and a real clock: the answer comes in time, with what there is.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { afterEach, describe, expect, test } from 'vitest'
import { readExposition } from '../../test/support/exposition.js'
import { delivers, descriptors, metricsOf, statsOf } from '../../test/support/runtime-values.js'
import {
  containersOf,
  createStatsFixture,
  hexId,
  podCgroup,
  type StatsFixture,
  sandboxOf,
  text,
} from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'
import { createClock } from '../adapters/clock/clock.js'
import { createCriClient } from '../adapters/cri/client/client.js'
import { ContainerStats, PodSandboxMetrics } from '../cri-api/api.js'
import type { Scripts } from '../fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../fakes/cri/fake-runtime.js'
import type { CriClient } from '../ports/runtime.js'

const pods = [web, etcd]
const lists: Scripts = {
  ListPodSandbox: { value: { items: pods.map(sandboxOf) } },
  ListContainers: { value: { containers: pods.flatMap(containersOf) } },
  Status: { value: {} },
}

let fixture: StatsFixture | undefined
let runtime: FakeRuntime | undefined
let client: CriClient | undefined
afterEach(async () => {
  await fixture?.close()
  client?.close()
  await runtime?.close()
  fixture = runtime = client = undefined
})

async function start(scripts: Scripts, statsTimeoutMs = 300, listTimeoutMs = 300): Promise<StatsFixture> {
  runtime = await startFakeRuntime({ ...lists, ...scripts })
  client = createCriClient(runtime.endpoint)
  fixture = await createStatsFixture({
    pods,
    stats: { client, clock: createClock(), fromCri: true, periodMs: 200, statsTimeoutMs, listTimeoutMs },
  })
  return fixture
}

/** Scrapes the three endpoints and says how long the slowest took. */
async function scrape(on: StatsFixture): Promise<{ ms: number; containers: Set<string>; apps: number }> {
  const started = performance.now()
  const [resource, cadvisor] = await Promise.all([
    on.stats.resource(5_000),
    on.stats.cadvisor(5_000),
    on.stats.summary(true, 5_000),
  ])
  const ms = performance.now() - started
  const named = readExposition(text(cadvisor)).filter((s) => s.name === 'container_memory_working_set_bytes')
  const containers = new Set(named.map((s) => s.labels.container ?? '').filter((c) => c !== ''))
  const apps = readExposition(text(resource)).filter(
    (s) => s.name === 'container_cpu_usage_seconds_total',
  ).length
  return { ms, containers, apps }
}

const all = new Set(['app', 'sidecar', 'etcd'])
const until = async (what: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + 30_000
  while (!(await what())) {
    if (performance.now() > end) throw new Error('it did not happen within 30 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

describe('the first scrape after a start', () => {
  for (const { name, scripts } of [
    {
      name: 'hangs',
      scripts: { ListPodSandboxStats: { hang: true }, ListMetricDescriptors: { hang: true } },
    },
    {
      name: 'answers garbage',
      scripts: {
        ListPodSandboxStats: { bytes: new Uint8Array([255, 1, 2, 3]) },
        ListMetricDescriptors: { bytes: new Uint8Array([255]) },
      },
    },
    { name: 'is cut off', scripts: { ListPodSandboxStats: { drop: 'before-headers' } } },
    { name: 'is no gRPC at all', scripts: { ListPodSandboxStats: { http: 200 } } },
  ] satisfies { name: string; scripts: Scripts }[])
    test(`a runtime that ${name}`, async () => {
      const { ms, containers, apps } = await scrape(await start(scripts))
      expect({ containers, apps }).toEqual({ containers: all, apps: 3 })
      expect(ms).toBeLessThan(5_000)
    })

  test('half of the pods fail: the other half is there, and the loss is counted', async () => {
    const on = await start({
      ListPodSandboxStats: { value: { stats: [statsOf(web)] } },
      ListMetricDescriptors: { value: { descriptors } },
      ListPodSandboxMetrics: { value: { podMetrics: [metricsOf(web)] } },
    })
    await until(() => on.stats.describe().metrics.source === 'cri')
    const { containers, apps } = await scrape(on)
    expect({ containers, apps }).toEqual({ containers: new Set(['app', 'sidecar']), apps: 2 })
    const own = (await on.metrics.text()).body
    expect(own).toContain('keelson_stats_missing_containers{endpoint="stats"} 1')
    expect(own).toContain('keelson_stats_missing_containers{endpoint="metrics"} 1')
  })
})

test('a runtime that hangs later: scrapes go on at once, from cgroups, and lists stay', async () => {
  const { listPodSandboxStats, listMetricDescriptors, listPodSandboxMetrics } = delivers(pods)
  const scripts: Scripts = {
    ListPodSandboxStats: { value: listPodSandboxStats() },
    ListMetricDescriptors: { value: listMetricDescriptors() },
    ListPodSandboxMetrics: { value: listPodSandboxMetrics() },
  }
  const on = await start(scripts, 2_000, 2_000)
  await until(() => on.stats.describe().metrics.source === 'cri')
  await scrape(on)
  for (const method of [
    'ListPodSandbox',
    'ListContainers',
    'ListPodSandboxStats',
    'ListPodSandboxMetrics',
  ] as const)
    runtime?.script(method, { hang: true })
  const inTime = await scrape(on)
  // Whoever waits for the runtime waits for two seconds.
  expect(inTime.ms).toBeLessThan(1_500)
  expect(inTime.containers).toEqual(all)
  await until(() => on.stats.describe().stats.source === 'cgroup')
  expect((await scrape(on)).containers).toEqual(all)
  // Old samples give way to cgroups before the call that hangs has ended.
  await expect
    .poll(async () => (await on.metrics.text()).body, { timeout: 10_000 })
    .toMatch(/keelson_stats_failures_total\{what="stats"\} [1-9]/)
})

test('metrics with an unreadable one among them: the sample fails and cgroups answer, no scrape fails', async () => {
  // After all that it should have, the pod has a metric whose name is longer than the metric.
  const pod = Buffer.concat([
    PodSandboxMetrics.encode(metricsOf(web)).finish(),
    Buffer.from([0x12, 2, 0x0a, 0x7f]),
  ])
  const on = await start({
    ListPodSandboxStats: { value: { stats: pods.map((p) => statsOf(p)) } },
    ListMetricDescriptors: { value: { descriptors } },
    ListPodSandboxMetrics: { bytes: new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(pod).finish() },
  })
  await until(() => on.stats.describe().metrics.source === 'cgroup')
  expect(on.stats.describe().metrics.runtime).toBe('failing')
  expect((await scrape(on)).containers).toEqual(all)
})

test('an answer above 16 MiB: the stream form is used, or cgroups', async () => {
  const large = { attributes: { id: 'x', annotations: { big: 'y'.repeat(17 * 1024 * 1024) } } }
  const on = await start({ ListPodSandboxStats: { value: { stats: [large] } } }, 5_000)
  expect((await scrape(on)).apps).toBe(3)
  runtime?.script('StreamPodSandboxStats', { values: pods.map((p) => ({ podSandboxStats: [statsOf(p)] })) })
  runtime?.cutAll()
  await until(() => on.stats.describe().stats.source === 'cri')
  expect((await scrape(on)).apps).toBe(3)
})

test('a container that vanishes between list and read is left out and counted', async () => {
  fixture = await createStatsFixture({ pods })
  rmSync(join(fixture.root, podCgroup(web), web.containers[1]?.id ?? ''), { recursive: true })
  fixture.cgroups.close()
  await fixture.tick()
  const { containers } = await scrape(fixture)
  expect(containers).toEqual(new Set(['app', 'etcd']))
  expect((await fixture.metrics.text()).body).toContain(
    'keelson_stats_missing_containers{endpoint="stats"} 1',
  )
})

test('5,000 containers: answered inside the deadline, from one call for each kind', async () => {
  const many = Array.from({ length: 2_500 }, (_, i) => ({
    ...web,
    sandboxId: hexId('a', 10_000 + i),
    name: `web-${i}`,
    uid: `uid-${i}`,
    containers: ['app', 'sidecar'].map((name, j) => ({
      id: hexId('c', 20_000 + 2 * i + j),
      name,
      files: {},
    })),
  }))
  runtime = await startFakeRuntime({
    ListPodSandbox: { value: { items: many.map(sandboxOf) } },
    ListContainers: { value: { containers: many.flatMap(containersOf) } },
    Status: { value: {} },
    ListPodSandboxStats: { value: { stats: many.map((p) => statsOf(p)) } },
    ListMetricDescriptors: { value: { descriptors } },
    ListPodSandboxMetrics: { value: { podMetrics: many.map((p) => metricsOf(p)) } },
    ListContainerStats: { value: { stats: [ContainerStats.fromPartial({})] } },
  })
  client = createCriClient(runtime.endpoint)
  // No second call follows while this machine is busy with the first.
  const slow = { periodMs: 120_000, statsTimeoutMs: 30_000, listTimeoutMs: 30_000 }
  fixture = await createStatsFixture({
    pods: [],
    stats: { client, clock: createClock(), fromCri: true, ...slow },
  })
  const on = fixture
  await until(() => on.stats.describe().metrics.source === 'cri')
  const { ms, apps } = await scrape(on)
  expect(apps).toBe(5_000)
  expect(ms).toBeLessThan(5_000)
  expect(runtime.callsOf('ListPodSandboxStats')).toHaveLength(1)
  expect(runtime.callsOf('ListPodSandboxMetrics')).toHaveLength(1)
})

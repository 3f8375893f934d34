// The eleven behaviours of metrics-server's parser, each on our own output of /metrics/resource.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readExposition } from '../../test/support/exposition.js'
import {
  containersOf,
  createStatsFixture,
  hexId,
  podCgroup,
  type StatsFixture,
  sandboxOf,
  snapshotFiles,
  text,
} from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'
import { ContainerState } from '../cri-api/api.js'
import { metricsResource } from '../serve/endpoints/metrics-resource.js'

let fixture: StatsFixture
beforeEach(async () => {
  fixture = await createStatsFixture({ pods: [web, etcd] })
})
afterEach(() => fixture.close())

const scrape = async (): Promise<string> => text(await fixture.stats.resource(0))
const series = async (name: string) => readExposition(await scrape()).filter((s) => s.name === name)
const cpu = 'container_cpu_usage_seconds_total'
const memory = 'container_memory_working_set_bytes'
const names = async (metric: string) => (await series(metric)).map((s) => s.labels.container)

/** As its parser looks for a label: the bytes up to the next quote. */
const findLabel = (line: string, label: string): string | undefined => {
  const at = line.indexOf(`${label}="`)
  return at < 0 ? undefined : line.slice(at + label.length + 2).split('"', 1)[0]
}

describe('metrics-server', () => {
  test('1: classic text, and every line is well formed', async () => {
    const endpoint = metricsResource(fixture.stats)
    const answer = await endpoint.handle({} as never, {} as never)
    if (!('headers' in answer)) throw new Error('no answer')
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(readExposition(await scrape()).length).toBeGreaterThan(10)
  })

  test('2: labels are found by their bytes', async () => {
    const lines = (await scrape()).split('\n').filter((l) => l.startsWith(`${cpu}{`))
    expect(lines.map((l) => ['container', 'pod', 'namespace'].map((label) => findLabel(l, label)))).toEqual([
      ['app', 'web-0', 'default'],
      ['sidecar', 'web-0', 'default'],
      ['etcd', 'etcd-node1', 'kube-system'],
    ])
    expect(lines.filter((l) => l.includes('\\') || l.includes(' ='))).toEqual([])
  })

  test('3: names are exact up to the brace', async () => {
    const found = new Set((await scrape()).split('\n').map((l) => /^([a-z_]+)(?:\{| )/.exec(l)?.[1]))
    for (const name of ['node_cpu_usage_seconds_total', 'node_memory_working_set_bytes', cpu, memory])
      expect(found).toContain(name)
  })

  test('4: a container without processor time or memory is in neither metric', async () => {
    const at = join(fixture.root, podCgroup(web), web.containers[1]?.id ?? '')
    writeFileSync(join(at, 'cpu.stat'), 'usage_usec 0\nuser_usec 0\nsystem_usec 0\n')
    await fixture.tick()
    expect(await names(cpu)).toEqual(['app', 'etcd'])
    expect(await names(memory)).toEqual(['app', 'etcd'])
    writeFileSync(join(at, 'cpu.stat'), 'usage_usec 5\nuser_usec 5\nsystem_usec 0\n')
    writeFileSync(join(at, 'memory.current'), '0\n')
    await fixture.tick()
    expect(await names(cpu)).toEqual(['app', 'etcd'])
    expect(await names(memory)).toEqual(['app', 'etcd'])
  })

  test('5: the node has processor time, memory and their times', async () => {
    for (const name of ['node_cpu_usage_seconds_total', 'node_memory_working_set_bytes']) {
      const [one] = await series(name)
      expect(Number(one?.value)).toBeGreaterThan(0)
      expect(one?.timestamp).toMatch(/^\d{13}$/)
    }
  })

  test('6: the time of a sample moves on between two scrapes', async () => {
    const before = (await series(cpu)).map((s) => Number(s.timestamp))
    await fixture.tick(15_000)
    const after = (await series(cpu)).map((s) => Number(s.timestamp))
    expect(after.every((t, i) => t > (before[i] ?? 0))).toBe(true)
  })

  test('7 and 8: the start time is there, in seconds, and a restart moves it', async () => {
    const start = async () =>
      Number((await series('container_start_time_seconds')).find((s) => s.labels.container === 'app')?.value)
    expect(await start()).toBeCloseTo(1_789_997_000.123, 2)
    expect((await series('container_start_time_seconds'))[0]?.timestamp).toBeUndefined()
    const [app, ...others] = containersOf(web)
    const restarted = { ...app, createdAt: fixture.clock.nowNanos() }
    fixture.answer('listContainers', () => ({ containers: [restarted, ...others, ...containersOf(etcd)] }))
    const last = Number((await series(cpu))[0]?.timestamp)
    await fixture.tick()
    expect((await start()) * 1000).toBeGreaterThanOrEqual(last)
  })

  test('9: exited containers are not listed', async () => {
    const [app, sidecar] = containersOf(web)
    const exited = { ...sidecar, state: ContainerState.CONTAINER_EXITED }
    fixture.answer('listContainers', () => ({ containers: [app, exited, ...containersOf(etcd)] }))
    await fixture.tick()
    expect(await names(cpu)).toEqual(['app', 'etcd'])
  })

  test('10: a container that restarts, and a pod that is replaced, come once', async () => {
    const older = { ...containersOf(web)[0], id: hexId('c', 77), createdAt: 1n }
    const replaced = { ...sandboxOf(web), id: hexId('a', 77), createdAt: 2n }
    fixture.answer('listContainers', () => ({
      containers: [older, ...[web, etcd].flatMap(containersOf)],
    }))
    fixture.answer('listPodSandbox', () => ({ items: [replaced, ...[web, etcd].map(sandboxOf)] }))
    await fixture.tick()
    expect(await names(cpu)).toEqual(['app', 'sidecar', 'etcd'])
    // readExposition refuses a second series with the same labels.
    expect((await series('pod_cpu_usage_seconds_total')).map((s) => s.labels.pod)).toEqual([
      'web-0',
      'etcd-node1',
    ])
  })

  test('11: 70 pods are answered from what is there, without a call to the runtime', async () => {
    const many = Array.from({ length: 70 }, (_, i) => ({
      ...web,
      sandboxId: hexId('a', 100 + i),
      name: `web-${i}`,
      uid: `00000000-0000-0000-0000-${String(i).padStart(12, '0')}`,
      pid: 1_000 + i,
      containers: [{ id: hexId('c', 100 + i), name: 'app', files: snapshotFiles('v2-01-limited') }],
    }))
    await fixture.close()
    fixture = await createStatsFixture({ pods: many })
    await fixture.tick()
    fixture.calls.length = 0
    const started = performance.now()
    expect(await names(cpu)).toHaveLength(70)
    expect(performance.now() - started).toBeLessThan(1_000)
    expect(fixture.calls).toEqual([])
  })
})

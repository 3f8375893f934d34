// `keelson doctor series` and `keelson doctor parity`: on answers of the real statistics, a scripted runtime on a socket,
// and cgroup files on disk.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { unifiedHierarchy } from '../../src/adapters/cgroups/hierarchy.js'
import { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { createDoctorCommand } from '../../src/cli/doctor/command.js'
import type { Io } from '../../src/cli/io.js'
import { compareValues, isEqual, isWithin } from '../../src/doctor/metrics/parity.js'
import type { Values } from '../../src/doctor/metrics/read-once.js'
import { readText } from '../../src/doctor/metrics/read-text.js'
import { bytesPerSeries, countSeries, projectSeries, rowKindOf } from '../../src/doctor/metrics/series.js'
import { formatSeries } from '../../src/doctor/metrics/series-report.js'
import { FakeCgroupTree } from '../../src/fakes/cgroup-tree.js'
import type { Scripts } from '../../src/fakes/cri/answers.js'
import { type FakeRuntime, startFakeRuntime } from '../../src/fakes/cri/fake-runtime.js'
import { delivers } from '../support/runtime-values.js'
import {
  containersOf,
  createStatsFixture,
  podCgroup,
  type StatsFixture,
  sandboxOf,
  text,
} from '../support/stats-fixture.js'
import { etcd, web } from '../support/stats-pods.js'
import { fakePorts } from './ports.js'

const pods = [web, etcd]
let fixture: StatsFixture
beforeEach(async () => {
  fixture = await createStatsFixture({ pods })
})
afterEach(() => fixture.close())

describe('series', () => {
  const scrape = async () => {
    await fixture.tick()
    return readText(text(await fixture.stats.cadvisor(0)))
  }

  test('every series is counted once, in its kind of row', async () => {
    const all = await scrape()
    const count = countSeries(all, {})
    expect(count.total).toBe(all.length)
    expect(count).toMatchObject({ pods: 2, containers: 3 })
    const rss = count.families.find((f) => f.name === 'container_memory_rss')
    expect(rss?.rows).toEqual({ container: 3, pod: 2, slice: 0, node: 1, machine: 0 })
    expect(count.rows.machine.total).toBe(all.filter((s) => !s.name.startsWith('container_')).length + 1)
  })

  test('what is counted as shown is what the switches leave in a real answer', async () => {
    const request = { disable: ['container_memory_rss'], rows: { pods: false, slices: false } }
    const count = countSeries(await scrape(), request)
    await fixture.close()
    fixture = await createStatsFixture({ pods, stats: { switches: request } })
    expect(count.shown).toBe((await scrape()).length)
    expect(count.shown).toBeLessThan(count.total)
  })

  test('one pod with one container is said in the singular', async () => {
    const count = { ...countSeries(await scrape(), {}), pods: 1, containers: 1 }
    expect(formatSeries(count, [projectSeries(count, 1, 1)])).toContain(
      '\n1 pod with 1 container on this node.',
    )
  })

  test('twice the pods: the rows of pods and containers double, those of the node stay', async () => {
    const count = countSeries(await scrape(), {})
    const [now, twice] = [projectSeries(count, 2, 1), projectSeries(count, 4, 1)]
    expect(now.series).toBe(count.total)
    expect(twice.series - now.series).toBe(count.rows.pod.total + count.rows.container.total)
    expect(projectSeries(count, 2, 3).prometheusBytes).toBe(3 * count.total * bytesPerSeries)
  })

  for (const [block, kind] of [
    ['{container="app",id="/kubepods/x",namespace="a",pod="b"}', 'container'],
    ['{container="",id="/kubepods/x",interface="eth0",namespace="a",pod="b"}', 'pod'],
    ['{container="",id="/kubepods",namespace="",pod=""}', 'slice'],
    ['{container="",id="/",namespace="",pod=""}', 'node'],
    ['{boot_id="x"}', 'machine'],
    ['', 'machine'],
  ] as const)
    test(`${block || 'no labels'}: ${kind}`, () => expect(rowKindOf(block)).toBe(kind))
})

describe('parity', () => {
  const described = (source: 'cri' | 'cgroup', runtime: 'in-use' | 'unsupported' | null) => ({
    source,
    runtime,
  })
  const values = (cadvisor: string, source: 'cri' | 'cgroup'): Values => ({
    cadvisor: `# TYPE container_x_total counter\n# TYPE container_spec_x gauge\n# TYPE container_memory_x gauge\n${cadvisor}`,
    resource: '',
    summary: '{"pods":[]}',
    from: {
      repaired: [],
      fromCri: true,
      stats: described(source, 'in-use'),
      metrics: described(source, 'in-use'),
    },
  })
  const compare = (before: string, runtime: string, after: string) =>
    compareValues({
      before: values(before, 'cgroup'),
      runtime: values(runtime, 'cri'),
      after: values(after, 'cgroup'),
    }).families

  for (const { name, rows, equal } of [
    { name: 'a counter between', rows: ['100', '150', '200'], equal: true },
    { name: 'a counter before both', rows: ['100', '98', '200'], equal: false },
    { name: 'a counter after both', rows: ['100', '203', '200'], equal: false },
    { name: 'a counter 1 % off', rows: ['100', '99', '100'], equal: true },
  ])
    test(name, () => {
      const [a = '', b = '', c = ''] = rows.map((v) => `container_x_total{pod="p"} ${v}\n`)
      const [family] = compare(a, b, c)
      expect(family === undefined ? undefined : isEqual(family)).toBe(equal)
    })

  for (const [name, rule, value, low, high, within] of [
    ['container_memory_rss', 'gauge', 1_048_577, 0, 1, true],
    ['container_memory_rss', 'gauge', 1_048_578, 0, 1, false],
    ['container_spec_cpu_shares', 'exact', 999, 998, 998, false],
    ['container_pressure_cpu_waiting_seconds_total', 'counter', 12, 12.9, 12.9, true],
    ['container_pressure_cpu_waiting_seconds_total', 'counter', 13.5, 12.9, 12.9, false],
    ['usageCoreNanoSeconds', 'counter', 12, 12.9, 12.9, false],
  ] as const)
    test(`${name}: ${value} for ${low} to ${high}`, () =>
      expect(isWithin(name, rule, value, low, high)).toBe(within))

  test('series that only one side has; one that went meanwhile says nothing', () => {
    const [family] = compare(
      'container_x_total{pod="a"} 1\ncontainer_x_total{pod="gone"} 1\n',
      'container_x_total{pod="b"} 1\n',
      'container_x_total{pod="a"} 1\n',
    )
    expect(family).toMatchObject({ compared: 0, onlyCgroup: ['{pod="a"}'], onlyRuntime: ['{pod="b"}'] })
  })
})

describe('the commands', () => {
  let runtime: FakeRuntime
  afterEach(() => runtime.close())

  async function doctor(args: readonly string[], scripts: Scripts = {}) {
    runtime = await startFakeRuntime({
      ListPodSandbox: { value: { items: pods.map(sandboxOf) } },
      ListContainers: { value: { containers: pods.flatMap(containersOf) } },
      Status: { value: {} },
      ...scripts,
    })
    let output = ''
    const io: Io = {
      stdout: { write: (text: string) => (output += text) },
      stderr: { write: () => true },
      stdin: process.stdin,
      env: {},
      exitCode: 0,
    }
    const ports = {
      ...fakePorts({ cgroups: new FakeCgroupTree(), endpoint: runtime.endpoint }),
      openCgroups: () => new CgroupFsTree(unifiedHierarchy(fixture.root)),
    }
    await createDoctorCommand(io, async () => ports).parseAsync(args, { from: 'user' })
    return { output, status: io.exitCode }
  }
  const answers = delivers(pods)
  const delivering: Scripts = {
    ListPodSandboxStats: { value: answers.listPodSandboxStats() },
    ListMetricDescriptors: { value: answers.listMetricDescriptors() },
    ListPodSandboxMetrics: { value: answers.listPodSandboxMetrics() },
  }

  test('series: a table, and the projection for more pods', async () => {
    const { output, status } = await doctor(['series', '--pods', '110'])
    expect(status).toBe(0)
    expect(output).toMatch(/^container_memory_rss +3 +2 +0 +1 +0 +6 +yes$/m)
    expect(output).toMatch(/^110 pods on one node: \d{4,} series, about [\d.]+MiB of memory in Prometheus$/m)
  })

  test('parity: a runtime that disagrees is shown with the values of both, and the status says so', async () => {
    const { output, status } = await doctor(['parity'], delivering)
    expect(status).toBe(3)
    expect(output).toMatch(/container_memory_working_set_bytes .* values differ .*runtime 40000000, cgroup/)
    expect(output).toMatch(/container_memory_rss +gauge +0 +not from the runtime/)
    expect(output).toMatch(/runtime_only_total +counter +0 +only from the runtime/)
  })

  test('parity: a runtime without metrics, and values that agree', async () => {
    const at = (pod: typeof web, container: number) =>
      join(fixture.root, podCgroup(pod), pod.containers[container]?.id ?? '')
    for (const [pod, container] of [
      [web, 0],
      [web, 1],
      [etcd, 0],
    ] as const)
      writeFileSync(join(at(pod, container), 'memory.current'), '40000000\n')
    const { output } = await doctor(['parity', '-o', 'json'], {
      ListPodSandboxStats: { value: answers.listPodSandboxStats() },
    })
    const report = JSON.parse(output) as {
      notCompared: { endpoint: string; why: string }[]
      families: { endpoint: string; name: string; compared: number; result: string }[]
    }
    expect(report.notCompared).toMatchObject([{ endpoint: '/metrics/cadvisor' }])
    expect(report.notCompared[0]?.why).toContain('does not implement ListMetricDescriptors')
    const start = report.families.find((f) => f.name === 'container_start_time_seconds')
    expect(start).toMatchObject({ endpoint: '/metrics/resource', compared: 3, result: 'same' })
  })

  test('a runtime that is away', async () => {
    await expect(
      doctor(['series', '--timeout', '1', '--runtime-endpoint', 'unix:///run/nobody.sock']),
    ).rejects.toMatchObject({ code: 'runtime.unavailable' })
  })
})

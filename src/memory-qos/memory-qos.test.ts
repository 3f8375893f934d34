// Memory QoS as the kubelet holds it: node set-up, pods in order, reserved cgroups, metrics and events.
import { describe, expect, test } from 'vitest'
import {
  gateOff,
  guaranteed,
  hard,
  type MemoryFixture,
  makePod,
  mib,
  startFixture,
  tiered,
  withKubeReserved,
} from '../../test/memory-qos/fixture.js'
import type { PodResources } from '../core/pod/pod.js'
import { FakeFiles } from '../fakes/files.js'
import { FakeLog } from '../fakes/log.js'
import { createProcessMetrics } from '../serve/process-metrics.js'
import { openFoundValues } from './found-values.js'
import { createMemoryQos, type MemoryQosOptions } from './memory-qos.js'
import type { MemoryQosEvent } from './report.js'

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' } })
const db = guaranteed('db', '512Mi')

async function hold(fixture: MemoryFixture, more: Partial<MemoryQosOptions> = {}) {
  const events: MemoryQosEvent[] = []
  const log = new FakeLog()
  const metrics = await createProcessMetrics({ processDefaults: false })
  const stop = new AbortController()
  const memoryQos = createMemoryQos({
    cgroups: fixture.cgroups,
    runtime: fixture.runtime,
    clock: fixture.clock,
    timeoutMs: 1000,
    ownsOtherFiles: () => true,
    log,
    metrics,
    event: (e) => events.push(e),
    node: () => fixture.input,
    pods: () => fixture.input.pods,
    signal: stop.signal,
    ...more,
  })
  return { memoryQos, events, log, stop, text: async () => (await metrics.text()).body }
}

const line = (text: string, start: string): string | undefined =>
  text.split('\n').find((l) => l.startsWith(start))

describe('node set-up', () => {
  test('kubepods, burstable and besteffort get their limits and weights', async () => {
    const fixture = await startFixture(tiered)
    const { memoryQos } = await hold(fixture)
    await memoryQos.setUpNode()
    expect(fixture.text('/kubepods', 'memory.max')).toBe(mib(8000))
    expect(fixture.text('/kubepods/besteffort', 'cpu.weight')).toBe('1')
  })

  test('gate off at the start clears what was left on the levels above pods', async () => {
    const fixture = await startFixture(gateOff)
    for (const [path, file] of [
      ['/kubepods', 'memory.min'],
      ['/kubepods', 'memory.low'],
      ['/kubepods/burstable', 'memory.low'],
    ] as const)
      fixture.cgroups.kernel.write(path, file, '409600')
    const { memoryQos } = await hold(fixture)
    await memoryQos.setUpNode()
    expect(fixture.text('/kubepods', 'memory.min')).toBe('0')
    expect(fixture.text('/kubepods', 'memory.low')).toBe('0')
    expect(fixture.text('/kubepods/burstable', 'memory.low')).toBe('0')
  })

  test('a reserved cgroup that does not exist ends the start', async () => {
    const fixture = await startFixture(tiered)
    fixture.input = withKubeReserved(fixture.input, '/kube', '200Mi')
    const { memoryQos } = await hold(fixture)
    await expect(memoryQos.setUpNode()).rejects.toMatchObject({ code: 'memory-qos.reserved-missing' })
  })
})

test('a pod is prepared from the top: ancestors, its cgroup, its values', async () => {
  const fixture = await startFixture(tiered)
  const { memoryQos } = await hold(fixture)
  await memoryQos.setUpNode()
  fixture.cgroups.calls.length = 0
  const path = await memoryQos.preparePod(web)
  expect(path).toBe('/kubepods/burstable/poduid-web')
  const order = fixture.cgroups.calls
    .filter((c) => c.call === 'create' || c.file === 'memory.low' || c.file === 'memory.min')
    .map((c) => `${c.call} ${c.path} ${c.file ?? ''}`.trim())
  expect(order).toEqual([
    'write /kubepods memory.min',
    'write /kubepods memory.low',
    'write /kubepods/burstable memory.low',
    'create /kubepods/burstable/poduid-web',
    'write /kubepods/burstable/poduid-web memory.low',
  ])
  expect(fixture.text(path, 'memory.max')).toBe(mib(256))
  expect(fixture.text(path, 'memory.low')).toBe(mib(128))
  memoryQos.releasePod(web)
  await fixture.cgroups.remove(path)
  await memoryQos.passNow()
  expect(fixture.text('/kubepods/burstable', 'memory.low')).toBe('0')
})

test('other files: written at creation and when the computed value changes, never on a timer', async () => {
  const fixture = await startFixture(tiered)
  const { memoryQos } = await hold(fixture)
  await memoryQos.setUpNode()
  await memoryQos.preparePod(web)
  await fixture.run(web)
  const pod = '/kubepods/burstable/poduid-web'
  const foreign = [
    [pod, 'memory.max', mib(900)],
    [pod, 'cpu.weight', '9'],
    ['/kubepods', 'memory.max', mib(100)],
    ['/kubepods', 'cpu.weight', '3'],
    ['/kubepods/burstable', 'cpu.weight', '33'],
  ] as const
  await memoryQos.passNow()
  for (const [path, file, value] of foreign) fixture.cgroups.kernel.write(path, file, value)
  for (let i = 0; i < 10; i++) await memoryQos.passNow()
  for (const [path, file, value] of foreign) expect(fixture.text(path, file), `${path} ${file}`).toBe(value)
  const larger = makePod('web', { app: { request: '128Mi', limit: '300Mi' } })
  fixture.input = { ...fixture.input, pods: [larger] }
  await memoryQos.passNow()
  expect(fixture.text(pod, 'memory.max')).toBe(mib(300))
  expect(fixture.text(pod, 'cpu.weight')).toBe('9')
})

test('a smaller pod limit waits until usage is below it', async () => {
  const fixture = await startFixture(tiered)
  const { memoryQos } = await hold(fixture)
  await memoryQos.setUpNode()
  await memoryQos.preparePod(web)
  await fixture.run(web)
  await memoryQos.passNow()
  const pod = '/kubepods/burstable/poduid-web'
  fixture.cgroups.kernel.setText(pod, 'memory.current', mib(200))
  fixture.input = { ...fixture.input, pods: [makePod('web', { app: { request: '64Mi', limit: '150Mi' } })] }
  await memoryQos.passNow()
  expect(fixture.text(pod, 'memory.max')).toBe(mib(256))
  fixture.cgroups.kernel.setText(pod, 'memory.current', mib(100))
  await memoryQos.passNow()
  expect(fixture.text(pod, 'memory.max')).toBe(mib(150))
})

test('enforcement of a reserved cgroup switched off: it gets back what it had', async () => {
  const fixture = await startFixture(tiered)
  await fixture.cgroups.ensure('/kube')
  fixture.cgroups.kernel.write('/kube', 'memory.min', mib(10))
  const found = await openFoundValues({ files: new FakeFiles(), path: '/reserved.json', bootId: 'b' })
  const plain = fixture.input
  const { memoryQos } = await hold(fixture, { found, isNoted: (t) => t.level === 'reserved' })
  fixture.input = withKubeReserved(plain, '/kube', '200Mi')
  await memoryQos.setUpNode()
  expect(fixture.text('/kube', 'memory.min')).toBe(mib(200))
  expect(fixture.text('/kube', 'memory.max')).toBe(mib(200))
  fixture.input = plain
  await memoryQos.passNow()
  expect(fixture.text('/kube', 'memory.min')).toBe(mib(10))
  expect(fixture.text('/kube', 'memory.max')).toBe('max')
  expect(found.cgroups.size).toBe(0)
})

describe('metrics and events', () => {
  const throttle = (fixture: MemoryFixture, pod: PodResources, count: number): void =>
    fixture.cgroups.kernel.setText(
      fixture.containerPath(pod, 'app'),
      'memory.events',
      `low 0\nhigh ${count}\nmax 0`,
    )

  test('the KEP’s three metrics and upstream’s gauges', async () => {
    const fixture = await startFixture(tiered)
    await fixture.run(web)
    await fixture.run(db)
    const { memoryQos, text } = await hold(fixture)
    throttle(fixture, web, 3)
    await memoryQos.passNow()
    const body = await text()
    const labels = '{namespace="default",pod="web",container="app"}'
    expect(line(body, `kubelet_memory_qos_memory_high_bytes${labels}`)).toMatch(/ 255012864$/)
    expect(line(body, 'kubelet_memory_qos_memory_high_bytes{namespace="default",pod="db"')).toBeUndefined()
    expect(line(body, 'kubelet_memory_qos_memory_min_bytes{namespace="default",pod="db"')).toMatch(
      / 536870912$/,
    )
    expect(line(body, `kubelet_memory_qos_throttle_events_total${labels}`)).toMatch(/ 3$/)
    expect(line(body, 'kubelet_memory_qos_node_memory_min_bytes ')).toMatch(/ 536870912$/)
    expect(line(body, 'kubelet_memory_qos_node_memory_low_bytes ')).toMatch(/ 134217728$/)
  })

  test('the throttle counter goes on over restarts, ends with the pod, and the first throttle is an event', async () => {
    const fixture = await startFixture(tiered)
    await fixture.run(web)
    const { memoryQos, events, text } = await hold(fixture)
    const counter = 'kubelet_memory_qos_throttle_events_total{namespace="default",pod="web",container="app"}'
    await memoryQos.passNow()
    throttle(fixture, web, 5)
    await memoryQos.passNow()
    throttle(fixture, web, 9)
    await memoryQos.passNow()
    expect(events).toMatchObject([{ reason: 'MemoryThrottled', pod: { namespace: 'default', name: 'web' } }])
    await fixture.restart(web, 'app')
    await memoryQos.passNow()
    throttle(fixture, web, 2)
    await memoryQos.passNow()
    expect(line(await text(), counter)).toMatch(/ 11$/)
    expect(events).toHaveLength(2)
    await fixture.end(web)
    await memoryQos.passNow()
    expect(line(await text(), counter)).toBeUndefined()
  })

  test('drift is logged once, is an event and a gauge', async () => {
    const fixture = await startFixture(tiered)
    await fixture.run(web)
    const { memoryQos, events, log, text } = await hold(fixture)
    for (let i = 0; i < 8; i++) {
      await memoryQos.passNow()
      fixture.cgroups.kernel.write('/kubepods/burstable', 'memory.low', '0')
    }
    expect(events.map((e) => e.reason)).toEqual(['MemoryQoSDrift'])
    expect(log.messages('warn').filter((m) => m.includes('keeps resetting'))).toHaveLength(1)
    expect(line(await text(), 'keelson_memory_qos_findings{finding="drift"}')).toMatch(/ 1$/)
  })
})

describe('findings', () => {
  const ids = async (fixture: MemoryFixture): Promise<string[]> => {
    const { memoryQos } = await hold(fixture)
    await memoryQos.passNow()
    await memoryQos.passNow()
    return memoryQos.findings().map((f) => f.id)
  }

  test('sum of protections near and over the capacity', async () => {
    const fixture = await startFixture(hard)
    await fixture.run(guaranteed('big', '7500Mi'))
    expect(await ids(fixture)).toContain('protection-near-capacity')
    await fixture.run(guaranteed('more', '2Gi'))
    expect(await ids(fixture)).toContain('protection-over-capacity')
  })

  test('a reserved cgroup below a parent without protection', async () => {
    const fixture = await startFixture(tiered)
    await fixture.cgroups.ensure('/kube/reserved')
    fixture.input = withKubeReserved(fixture.input, '/kube/reserved', '200Mi')
    expect(await ids(fixture)).toContain('reserved-below-unprotected-parent')
    fixture.cgroups.kernel.write('/kube', 'memory.min', mib(200))
    expect(await ids(fixture)).not.toContain('reserved-below-unprotected-parent')
  })

  test('kubepods below a cgroupRoot without protection: nothing in it is protected', async () => {
    const fixture = await startFixture(hard)
    fixture.input = { ...fixture.input, cgroupRoot: '/slurm' }
    await fixture.run(db)
    expect(await ids(fixture)).toContain('kubepods-below-unprotected-parent')
    fixture.cgroups.kernel.write('/slurm', 'memory.min', 'max')
    expect(await ids(fixture)).not.toContain('kubepods-below-unprotected-parent')
  })

  test('memory.min close to memory.max with a page cache that grows', async () => {
    const fixture = await startFixture(hard)
    await fixture.run(db)
    const app = fixture.containerPath(db, 'app')
    fixture.cgroups.kernel.write(app, 'memory.max', mib(512))
    const { memoryQos } = await hold(fixture)
    for (const cache of [100, 200, 300]) {
      fixture.cgroups.kernel.setText(app, 'memory.stat', `anon 0\nfile ${cache}`)
      await memoryQos.passNow()
    }
    expect(memoryQos.findings()).toMatchObject([{ id: 'min-near-max', subject: app }])
  })
})

test('live: intended, written, effective, and the ancestor that caps', async () => {
  const fixture = await startFixture(tiered)
  await fixture.run(web)
  const { memoryQos } = await hold(fixture)
  await memoryQos.passNow()
  const app = fixture.containerPath(web, 'app')
  for (const path of ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/poduid-web', app])
    fixture.cgroups.kernel.setText(path, 'memory.current', mib(128))
  fixture.cgroups.kernel.write('/kubepods', 'memory.low', '0')
  const row = memoryQos.live('web').rows.find((r) => r.path === app)
  expect(row?.files.find((f) => f.file === 'memory.low')).toMatchObject({
    intended: mib(128),
    written: mib(128),
    effective: '0',
    cappedBy: '/kubepods',
  })
  expect(memoryQos.live('default/other').rows.map((r) => r.level)).toEqual(['kubepods', 'qos', 'qos'])
})

test('run: passes each period, soon after a notify, and ends with its signal', async () => {
  const fixture = await startFixture(tiered)
  const { memoryQos, stop } = await hold(fixture)
  const done = memoryQos.run()
  await fixture.clock.advance(0)
  await fixture.run(web)
  memoryQos.notify()
  await fixture.clock.advance(0)
  await fixture.clock.advance(500)
  expect(fixture.text('/kubepods/burstable', 'memory.low')).toBe(mib(128))
  fixture.cgroups.kernel.write('/kubepods/burstable', 'memory.low', '0')
  await fixture.clock.advance(60_000)
  expect(fixture.text('/kubepods/burstable', 'memory.low')).toBe(mib(128))
  stop.abort()
  await done
})

describe('a kubelet beside us starts', () => {
  test('its zeros are gone within five seconds, each time, and the log names it', async () => {
    const fixture = await startFixture(hard)
    await fixture.run(db)
    let starts = 1
    const { memoryQos, log, stop } = await hold(fixture, {
      watchMs: 2_000,
      ownsOtherFiles: () => false,
      findKubelet: async () => ({ pid: 800 + starts, id: `${starts}`, ageMs: 1_000 }),
    })
    const running = memoryQos.run()
    await expect.poll(() => fixture.text('/kubepods', 'memory.min')).not.toBe('0')
    const ours = fixture.text('/kubepods', 'memory.min')
    for (; starts <= 8; starts++) {
      fixture.cgroups.kernel.write('/kubepods', 'memory.min', '0')
      await fixture.clock.advance(5_000)
      await expect.poll(() => fixture.text('/kubepods', 'memory.min'), { timeout: 1_000 }).toBe(ours)
    }
    expect(memoryQos.findings().map((f) => f.id)).not.toContain('drift')
    expect(JSON.stringify(log.lines)).toContain('808')
    stop.abort(new Error('over'))
    await fixture.clock.advance(5_000)
    await running
  })

  test('a writer that is no kubelet start is named with the kubelet beside the others', async () => {
    const fixture = await startFixture(hard)
    await fixture.run(db)
    const engine = fixture.newEngine({
      findKubelet: async () => ({ pid: 812, id: 'old', ageMs: 3_600_000 }),
    })
    const pass = () => engine.pass(fixture.input, { signal: new AbortController().signal })
    await pass()
    let last = await pass()
    for (let i = 0; i < 6; i++) {
      fixture.cgroups.kernel.write('/kubepods', 'memory.min', '0')
      last = await pass()
    }
    expect(last.findings).toMatchObject([{ id: 'drift', subject: '/kubepods' }])
    expect(last.findings[0]?.remedy).toContain('the kubelet, process 812')
  })
})

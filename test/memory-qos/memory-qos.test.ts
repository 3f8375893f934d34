// Memory QoS as the kubelet holds it: node set-up, pods in order, reserved cgroups, metrics and events.
import { describe, expect, test } from 'vitest'
import type { Pod } from '../../src/core/pod/pod.js'
import { FakeFiles } from '../../src/fakes/files.js'
import { FakeLog } from '../../src/fakes/log.js'
import { openFoundValues } from '../../src/memory-qos/found-values.js'
import { createMemoryQos, type MemoryQosOptions } from '../../src/memory-qos/memory-qos.js'
import type { MemoryQosEvent } from '../../src/memory-qos/report.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import {
  gateOff,
  guaranteed,
  hard,
  type MemoryBed,
  makePod,
  mib,
  startBed,
  tiered,
  withKubeReserved,
} from './fixture.js'

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' } })
const db = guaranteed('db', '512Mi')

async function hold(bed: MemoryBed, more: Partial<MemoryQosOptions> = {}) {
  const events: MemoryQosEvent[] = []
  const log = new FakeLog()
  const metrics = await createProcessMetrics({ processDefaults: false })
  const stop = new AbortController()
  const memoryQos = createMemoryQos({
    cgroups: bed.cgroups,
    runtime: bed.runtime,
    clock: bed.clock,
    timeoutMs: 1000,
    ownsOtherFiles: () => true,
    log,
    metrics,
    event: (e) => events.push(e),
    node: () => bed.input,
    pods: () => bed.input.pods,
    signal: stop.signal,
    ...more,
  })
  return { memoryQos, events, log, stop, text: async () => (await metrics.text()).body }
}

const line = (text: string, start: string): string | undefined =>
  text.split('\n').find((l) => l.startsWith(start))

describe('node set-up', () => {
  test('kubepods, burstable and besteffort get their limits and weights', async () => {
    const bed = await startBed(tiered)
    const { memoryQos } = await hold(bed)
    await memoryQos.setUpNode()
    expect(bed.text('/kubepods', 'memory.max')).toBe(mib(8000))
    expect(bed.text('/kubepods/besteffort', 'cpu.weight')).toBe('1')
  })

  test('gate off at the start clears what was left on the levels above pods', async () => {
    const bed = await startBed(gateOff)
    for (const [path, file] of [
      ['/kubepods', 'memory.min'],
      ['/kubepods', 'memory.low'],
      ['/kubepods/burstable', 'memory.low'],
    ] as const)
      bed.cgroups.kernel.write(path, file, '409600')
    const { memoryQos } = await hold(bed)
    await memoryQos.setUpNode()
    expect(bed.text('/kubepods', 'memory.min')).toBe('0')
    expect(bed.text('/kubepods', 'memory.low')).toBe('0')
    expect(bed.text('/kubepods/burstable', 'memory.low')).toBe('0')
  })

  test('a reserved cgroup that does not exist ends the start', async () => {
    const bed = await startBed(tiered)
    bed.input = withKubeReserved(bed.input, '/kube', '200Mi')
    const { memoryQos } = await hold(bed)
    await expect(memoryQos.setUpNode()).rejects.toMatchObject({ code: 'memory-qos.reserved-missing' })
  })
})

test('a pod is prepared from the top: ancestors, its cgroup, its values', async () => {
  const bed = await startBed(tiered)
  const { memoryQos } = await hold(bed)
  await memoryQos.setUpNode()
  bed.cgroups.calls.length = 0
  const path = await memoryQos.preparePod(web)
  expect(path).toBe('/kubepods/burstable/poduid-web')
  const order = bed.cgroups.calls
    .filter((c) => c.call === 'create' || c.file === 'memory.low' || c.file === 'memory.min')
    .map((c) => `${c.call} ${c.path} ${c.file ?? ''}`.trim())
  expect(order).toEqual([
    'write /kubepods memory.min',
    'write /kubepods memory.low',
    'write /kubepods/burstable memory.low',
    'create /kubepods/burstable/poduid-web',
    'write /kubepods/burstable/poduid-web memory.low',
  ])
  expect(bed.text(path, 'memory.max')).toBe(mib(256))
  expect(bed.text(path, 'memory.low')).toBe(mib(128))
  memoryQos.releasePod(web)
  await bed.cgroups.remove(path)
  await memoryQos.passNow()
  expect(bed.text('/kubepods/burstable', 'memory.low')).toBe('0')
})

test('other files: written at creation and when the computed value changes, never on a timer', async () => {
  const bed = await startBed(tiered)
  const { memoryQos } = await hold(bed)
  await memoryQos.setUpNode()
  await memoryQos.preparePod(web)
  await bed.run(web)
  const pod = '/kubepods/burstable/poduid-web'
  const foreign = [
    [pod, 'memory.max', mib(900)],
    [pod, 'cpu.weight', '9'],
    ['/kubepods', 'memory.max', mib(100)],
    ['/kubepods', 'cpu.weight', '3'],
    ['/kubepods/burstable', 'cpu.weight', '33'],
  ] as const
  await memoryQos.passNow()
  for (const [path, file, value] of foreign) bed.cgroups.kernel.write(path, file, value)
  for (let i = 0; i < 10; i++) await memoryQos.passNow()
  for (const [path, file, value] of foreign) expect(bed.text(path, file), `${path} ${file}`).toBe(value)
  const larger = makePod('web', { app: { request: '128Mi', limit: '300Mi' } })
  bed.input = { ...bed.input, pods: [larger] }
  await memoryQos.passNow()
  expect(bed.text(pod, 'memory.max')).toBe(mib(300))
  expect(bed.text(pod, 'cpu.weight')).toBe('9')
})

test('a smaller pod limit waits until usage is below it', async () => {
  const bed = await startBed(tiered)
  const { memoryQos } = await hold(bed)
  await memoryQos.setUpNode()
  await memoryQos.preparePod(web)
  await bed.run(web)
  await memoryQos.passNow()
  const pod = '/kubepods/burstable/poduid-web'
  bed.cgroups.kernel.setText(pod, 'memory.current', mib(200))
  bed.input = { ...bed.input, pods: [makePod('web', { app: { request: '64Mi', limit: '150Mi' } })] }
  await memoryQos.passNow()
  expect(bed.text(pod, 'memory.max')).toBe(mib(256))
  bed.cgroups.kernel.setText(pod, 'memory.current', mib(100))
  await memoryQos.passNow()
  expect(bed.text(pod, 'memory.max')).toBe(mib(150))
})

test('enforcement of a reserved cgroup switched off: it gets back what it had', async () => {
  const bed = await startBed(tiered)
  await bed.cgroups.ensure('/kube')
  bed.cgroups.kernel.write('/kube', 'memory.min', mib(10))
  const found = await openFoundValues({ files: new FakeFiles(), path: '/reserved.json', bootId: 'b' })
  const plain = bed.input
  const { memoryQos } = await hold(bed, { found, isNoted: (t) => t.level === 'reserved' })
  bed.input = withKubeReserved(plain, '/kube', '200Mi')
  await memoryQos.setUpNode()
  expect(bed.text('/kube', 'memory.min')).toBe(mib(200))
  expect(bed.text('/kube', 'memory.max')).toBe(mib(200))
  bed.input = plain
  await memoryQos.passNow()
  expect(bed.text('/kube', 'memory.min')).toBe(mib(10))
  expect(bed.text('/kube', 'memory.max')).toBe('max')
  expect(found.cgroups.size).toBe(0)
})

describe('metrics and events', () => {
  const throttle = (bed: MemoryBed, pod: Pod, count: number): void =>
    bed.cgroups.kernel.setText(bed.containerPath(pod, 'app'), 'memory.events', `low 0\nhigh ${count}\nmax 0`)

  test('the KEP’s three metrics and upstream’s gauges', async () => {
    const bed = await startBed(tiered)
    await bed.run(web)
    await bed.run(db)
    const { memoryQos, text } = await hold(bed)
    throttle(bed, web, 3)
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
    const bed = await startBed(tiered)
    await bed.run(web)
    const { memoryQos, events, text } = await hold(bed)
    const counter = 'kubelet_memory_qos_throttle_events_total{namespace="default",pod="web",container="app"}'
    await memoryQos.passNow()
    throttle(bed, web, 5)
    await memoryQos.passNow()
    throttle(bed, web, 9)
    await memoryQos.passNow()
    expect(events).toMatchObject([{ reason: 'MemoryThrottled', pod: { namespace: 'default', name: 'web' } }])
    await bed.restart(web, 'app')
    await memoryQos.passNow()
    throttle(bed, web, 2)
    await memoryQos.passNow()
    expect(line(await text(), counter)).toMatch(/ 11$/)
    expect(events).toHaveLength(2)
    await bed.end(web)
    await memoryQos.passNow()
    expect(line(await text(), counter)).toBeUndefined()
  })

  test('drift is logged once, is an event and a gauge', async () => {
    const bed = await startBed(tiered)
    await bed.run(web)
    const { memoryQos, events, log, text } = await hold(bed)
    for (let i = 0; i < 8; i++) {
      await memoryQos.passNow()
      bed.cgroups.kernel.write('/kubepods/burstable', 'memory.low', '0')
    }
    expect(events.map((e) => e.reason)).toEqual(['MemoryQoSDrift'])
    expect(log.messages('warn').filter((m) => m.includes('keeps resetting'))).toHaveLength(1)
    expect(line(await text(), 'keelson_memory_qos_findings{finding="drift"}')).toMatch(/ 1$/)
  })
})

describe('findings', () => {
  const ids = async (bed: MemoryBed): Promise<string[]> => {
    const { memoryQos } = await hold(bed)
    await memoryQos.passNow()
    await memoryQos.passNow()
    return memoryQos.findings().map((f) => f.id)
  }

  test('sum of protections near and over the capacity', async () => {
    const bed = await startBed(hard)
    await bed.run(guaranteed('big', '7500Mi'))
    expect(await ids(bed)).toContain('protection-near-capacity')
    await bed.run(guaranteed('more', '2Gi'))
    expect(await ids(bed)).toContain('protection-over-capacity')
  })

  test('a reserved cgroup below a parent without protection', async () => {
    const bed = await startBed(tiered)
    await bed.cgroups.ensure('/kube/reserved')
    bed.input = withKubeReserved(bed.input, '/kube/reserved', '200Mi')
    expect(await ids(bed)).toContain('reserved-below-unprotected-parent')
    bed.cgroups.kernel.write('/kube', 'memory.min', mib(200))
    expect(await ids(bed)).not.toContain('reserved-below-unprotected-parent')
  })

  test('kubepods below a cgroupRoot without protection: nothing in it is protected', async () => {
    const bed = await startBed(hard)
    bed.input = { ...bed.input, cgroupRoot: '/slurm' }
    await bed.run(db)
    expect(await ids(bed)).toContain('kubepods-below-unprotected-parent')
    bed.cgroups.kernel.write('/slurm', 'memory.min', 'max')
    expect(await ids(bed)).not.toContain('kubepods-below-unprotected-parent')
  })

  test('memory.min close to memory.max with a page cache that grows', async () => {
    const bed = await startBed(hard)
    await bed.run(db)
    const app = bed.containerPath(db, 'app')
    bed.cgroups.kernel.write(app, 'memory.max', mib(512))
    const { memoryQos } = await hold(bed)
    for (const cache of [100, 200, 300]) {
      bed.cgroups.kernel.setText(app, 'memory.stat', `anon 0\nfile ${cache}`)
      await memoryQos.passNow()
    }
    expect(memoryQos.findings()).toMatchObject([{ id: 'min-near-max', subject: app }])
  })
})

test('live: intended, written, effective, and the ancestor that caps', async () => {
  const bed = await startBed(tiered)
  await bed.run(web)
  const { memoryQos } = await hold(bed)
  await memoryQos.passNow()
  const app = bed.containerPath(web, 'app')
  for (const path of ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/poduid-web', app])
    bed.cgroups.kernel.setText(path, 'memory.current', mib(128))
  bed.cgroups.kernel.write('/kubepods', 'memory.low', '0')
  const row = memoryQos.live('web').rows.find((r) => r.path === app)
  expect(row?.files.find((f) => f.file === 'memory.low')).toMatchObject({
    intended: mib(128),
    written: mib(128),
    effective: '0',
    cappedBy: '/kubepods',
  })
  expect(memoryQos.live('default/other').rows.map((r) => r.level)).toEqual(['kubepods', 'qos', 'qos'])
})

test('run: passes each period, soon after a poke, and ends with its signal', async () => {
  const bed = await startBed(tiered)
  const { memoryQos, stop } = await hold(bed)
  const done = memoryQos.run()
  await bed.clock.advance(0)
  await bed.run(web)
  memoryQos.poke()
  await bed.clock.advance(0)
  await bed.clock.advance(500)
  expect(bed.text('/kubepods/burstable', 'memory.low')).toBe(mib(128))
  bed.cgroups.kernel.write('/kubepods/burstable', 'memory.low', '0')
  await bed.clock.advance(60_000)
  expect(bed.text('/kubepods/burstable', 'memory.low')).toBe(mib(128))
  stop.abort()
  await done
})

// The engine on a tree in memory with the kernel's rules: values at every level, nothing without a change, drift, rollback.
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
import { findingIds } from '../core/memory-qos/findings.js'
import type { MemoryQosSettings } from '../core/memory-qos/settings.js'

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' }, side: { request: '64Mi' } })
const db = guaranteed('db', '512Mi')
const batch = makePod('batch', { job: {} })

async function node(settings: MemoryQosSettings): Promise<MemoryFixture> {
  const fixture = await startFixture(settings)
  for (const pod of [web, db, batch]) await fixture.run(pod)
  return fixture
}

const files = ['memory.min', 'memory.low', 'memory.high'] as const
/** min low high of every level, for one look. */
function shown(fixture: MemoryFixture): Record<string, string> {
  const at = (path: string): string => files.map((file) => fixture.text(path, file)).join(' ')
  return {
    kubepods: at('/kubepods'),
    burstable: at('/kubepods/burstable'),
    besteffort: at('/kubepods/besteffort'),
    db: at('/kubepods/poduid-db'),
    'db/app': at(fixture.containerPath(db, 'app')),
    web: at('/kubepods/burstable/poduid-web'),
    'web/app': at(fixture.containerPath(web, 'app')),
    'web/side': at(fixture.containerPath(web, 'side')),
    'batch/job': at(fixture.containerPath(batch, 'job')),
  }
}

// 128Mi + 0.9 x 128Mi, and 64Mi + 0.9 x (8000Mi - 64Mi), in whole pages.
const webHigh = '255012864'
const sideHigh = '7556456448'
const batchHigh = '7549747200'

const expected = {
  tiered: {
    kubepods: `${mib(704)} ${mib(192)} max`,
    burstable: `0 ${mib(192)} max`,
    besteffort: '0 0 max',
    db: `${mib(512)} 0 max`,
    'db/app': `${mib(512)} 0 max`,
    web: `0 ${mib(192)} max`,
    'web/app': `0 ${mib(128)} ${webHigh}`,
    'web/side': `0 ${mib(64)} ${sideHigh}`,
    'batch/job': `0 0 ${batchHigh}`,
  },
  hard: {
    kubepods: `${mib(704)} 0 max`,
    burstable: `${mib(192)} 0 max`,
    besteffort: '0 0 max',
    db: `${mib(512)} 0 max`,
    'db/app': `${mib(512)} 0 max`,
    web: `${mib(192)} 0 max`,
    'web/app': `${mib(128)} 0 ${webHigh}`,
    'web/side': `${mib(64)} 0 ${sideHigh}`,
    'batch/job': `0 0 ${batchHigh}`,
  },
}
const resting = Object.fromEntries(Object.keys(expected.tiered).map((name) => [name, '0 0 max']))
const onlyHigh = {
  ...resting,
  'web/app': `0 0 ${webHigh}`,
  'web/side': `0 0 ${sideHigh}`,
  'batch/job': `0 0 ${batchHigh}`,
}

describe('values at every level', () => {
  for (const { name, settings, values } of [
    { name: 'TieredReservation', settings: tiered, values: expected.tiered },
    { name: 'HardReservation', settings: hard, values: expected.hard },
    { name: 'policy None', settings: { ...tiered, policy: 'None' as const }, values: onlyHigh },
    { name: 'gate off', settings: gateOff, values: resting },
    {
      name: 'factor 1.0: the page-floored limit',
      settings: { ...tiered, factor: 1 },
      values: {
        ...expected.tiered,
        'web/app': `0 ${mib(128)} ${mib(256)}`,
        'web/side': `0 ${mib(64)} ${mib(8000)}`,
        'batch/job': `0 0 ${mib(8000)}`,
      },
    },
  ])
    test(name, async () => {
      const fixture = await node(settings)
      await fixture.pass()
      expect(shown(fixture)).toEqual(values)
    })
})

describe('transitions with running containers leave no residue', () => {
  for (const { name, road } of [
    { name: 'gate on, off, on', road: [tiered, gateOff, tiered] },
    { name: 'Hard, Tiered, None, Hard', road: [hard, tiered, { ...tiered, policy: 'None' as const }, hard] },
    {
      name: 'factor 0.9, unset, 1.0, 0.9',
      road: [tiered, { ...tiered, factor: undefined }, { ...tiered, factor: 1 }, tiered],
    },
  ])
    test(name, async () => {
      const fixture = await node(road[0] ?? tiered)
      for (const memoryQos of road) {
        fixture.input = { ...fixture.input, memoryQos }
        await fixture.pass()
        const fresh = await node(memoryQos)
        await fresh.pass()
        expect(shown(fixture)).toEqual(shown(fresh))
      }
    })

  test('a restart after the gate went off clears what an earlier process left', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    const signal = new AbortController().signal
    await fixture.newEngine().pass({ ...fixture.input, memoryQos: gateOff }, { signal })
    expect(shown(fixture)).toEqual(resting)
  })

  test("upstream's rule: after a restart containers keep their values until their own change, the levels above follow", async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    const signal = new AbortController().signal
    const engine = fixture.newEngine({ keepsFound: ({ level }) => level === 'container' })
    const off = { ...fixture.input, memoryQos: gateOff }
    for (let passes = 0; passes < 2; passes += 1) await engine.pass(off, { signal })
    const containers = { 'web/app': expected.tiered['web/app'], 'db/app': expected.tiered['db/app'] }
    expect(shown(fixture)).toMatchObject({
      ...containers,
      kubepods: '0 0 max',
      burstable: '0 0 max',
      web: '0 0 max',
    })
    const other = fixture.newEngine({ keepsFound: ({ level }) => level === 'container' })
    const halved = { ...fixture.input, memoryQos: { ...tiered, factor: 0.5 } }
    await other.pass(halved, { signal })
    expect(shown(fixture)).toMatchObject(containers)
    const grown = makePod('web', { app: { request: '192Mi', limit: '256Mi' }, side: { request: '64Mi' } })
    await other.pass({ ...halved, pods: [grown, db, batch] }, { signal })
    expect(shown(fixture)).toMatchObject({
      'web/app': `0 ${mib(192)} ${mib(224)}`,
      'web/side': expected.tiered['web/side'],
    })
  })

  test('request-only change: pod, burstable, kubepods and memory.high follow', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    const grown = makePod('web', { app: { request: '192Mi', limit: '256Mi' }, side: { request: '64Mi' } })
    fixture.input = { ...fixture.input, pods: [grown, db, batch] }
    await fixture.pass()
    expect(shown(fixture)).toMatchObject({
      kubepods: `${mib(768)} ${mib(256)} max`,
      burstable: `0 ${mib(256)} max`,
      web: `0 ${mib(256)} max`,
      'web/app': `0 ${mib(192)} 261722112`,
    })
  })

  test('limit removed: memory.high follows allocatable memory', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    const open = makePod('web', { app: { request: '128Mi' }, side: { request: '64Mi' } })
    fixture.input = { ...fixture.input, pods: [open, db, batch] }
    await fixture.pass()
    expect(shown(fixture)['web/app']).toBe(`0 ${mib(128)} 7563165696`)
  })

  test('the last Burstable pod leaves: burstable and kubepods shrink', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    await fixture.end(web)
    await fixture.pass()
    expect(fixture.text('/kubepods/burstable', 'memory.low')).toBe('0')
    expect(fixture.text('/kubepods', 'memory.low')).toBe('0')
    expect(fixture.text('/kubepods', 'memory.min')).toBe(mib(512))
  })
})

describe('a pass without a change', () => {
  test('110 pods: no write and no changing call', async () => {
    const fixture = await startFixture(tiered)
    for (let n = 0; n < 110; n++)
      await fixture.run(makePod(`p${n}`, { app: { request: '10Mi', limit: '20Mi' } }))
    await fixture.pass()
    fixture.cgroups.calls.length = 0
    fixture.updates.length = 0
    const report = await fixture.pass()
    expect(report).toMatchObject({ writes: 0, calls: 0, failures: 0, drifts: 0, findings: [] })
    expect(fixture.cgroups.calls).toEqual([])
    expect(fixture.updates).toEqual([])
  })

  test('files of others stay as they are over ten passes and through changes of ours', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    const foreign: readonly (readonly [string, string, string])[] = [
      ['/kubepods', 'cpu.weight', '7'],
      ['/kubepods', 'memory.max', mib(4000)],
      ['/kubepods/burstable', 'pids.max', '777'],
      ['/kubepods/burstable/poduid-web', 'cpu.max', '20000 100000'],
      [fixture.containerPath(web, 'app'), 'memory.max', mib(300)],
    ]
    for (const [path, file, value] of foreign) fixture.cgroups.kernel.write(path, file, value)
    for (let i = 0; i < 10; i++) {
      fixture.input = { ...fixture.input, memoryQos: i % 2 === 0 ? hard : tiered }
      await fixture.pass()
    }
    for (const [path, file, value] of foreign) expect(fixture.text(path, file), `${path} ${file}`).toBe(value)
  })
})

test('a runtime that re-applies its whole record: what others tuned in the container is put back', async () => {
  const fixture = await node(tiered)
  const app = fixture.containerPath(web, 'app')
  const foreign = { 'cpu.weight': '55', 'memory.max': mib(300), 'pids.max': '77' }
  for (const [file, value] of Object.entries(foreign)) fixture.cgroups.kernel.setText(app, file, value)
  const { updateContainerResources } = fixture.runtime
  fixture.runtime.updateContainerResources = async (request, options) => {
    if (request.containerId === fixture.ids.get('web/app'))
      for (const file of Object.keys(foreign)) fixture.cgroups.kernel.setText(app, file, '4096')
    return updateContainerResources(request, options)
  }
  await fixture.pass()
  for (const [file, value] of Object.entries(foreign)) expect(fixture.text(app, file), file).toBe(value)
})

describe('somebody else writes', () => {
  test('our value is put back three times in ten minutes, then reported', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    let writes = 0
    let last = await fixture.pass()
    for (let i = 0; i < 9; i++) {
      fixture.cgroups.kernel.write('/kubepods', 'memory.low', '0')
      await fixture.clock.advance(60_000)
      last = await fixture.pass()
      writes += last.writes
    }
    expect(writes).toBe(3)
    expect(last.drifts).toBe(1)
    expect(last.findings).toMatchObject([{ id: 'drift', subject: '/kubepods' }])
    expect(fixture.text('/kubepods', 'memory.low')).toBe('0')
  })

  test('a restarted container starts with the runtime’s values and is brought to ours', async () => {
    const fixture = await node(tiered)
    await fixture.pass()
    await fixture.restart(web, 'app')
    const report = await fixture.pass()
    expect(report.calls).toBe(1)
    expect(shown(fixture)).toEqual(expected.tiered)
  })

  test('a runtime that ignores unified is named, and not asked for ever', async () => {
    const fixture = await node(tiered)
    fixture.ignoresUnified = true
    const report = await fixture.pass()
    expect(report.findings.map((f) => f.id)).toContain('unified-ignored')
    for (let i = 0; i < 8; i++) await fixture.pass()
    const asked = fixture.updates.filter((u) => u.containerId === fixture.ids.get('web/app')).length
    expect(asked).toBe(4)
  })
})

test('memory.high below usage waits one period, with a finding, then is written', async () => {
  const fixture = await node({ ...tiered, factor: undefined })
  await fixture.pass()
  const app = fixture.containerPath(web, 'app')
  fixture.cgroups.kernel.setText(app, 'memory.current', mib(250))
  fixture.input = { ...fixture.input, memoryQos: tiered }
  const held = await fixture.pass()
  expect(held.findings).toMatchObject([{ id: 'high-below-usage', subject: app }])
  expect(fixture.text(app, 'memory.high')).toBe('max')
  await fixture.clock.advance(60_000)
  await fixture.pass()
  expect(fixture.text(app, 'memory.high')).toBe(webHigh)
})

test('growth covers children at every moment, and shrinking never uncovers one', async () => {
  const fixture = await startFixture(tiered)
  await fixture.run(web)
  await fixture.run(db)
  const seen: string[] = []
  const look = (): void => {
    for (const file of ['memory.min', 'memory.low'] as const) {
      for (const path of ['/kubepods/burstable/poduid-web', '/kubepods/poduid-db']) {
        const parent = path.slice(0, path.lastIndexOf('/'))
        const own = BigInt(fixture.text(path, file) ?? '0')
        if (own > BigInt(fixture.text(parent, file) ?? '0')) seen.push(`${path} ${file}`)
      }
    }
  }
  const write = fixture.cgroups.write.bind(fixture.cgroups)
  fixture.cgroups.write = (path, file, value) => {
    write(path, file, value)
    look()
  }
  for (const memoryQos of [tiered, hard, tiered, gateOff, hard, gateOff]) {
    fixture.input = { ...fixture.input, memoryQos }
    await fixture.pass()
  }
  expect(seen).toEqual([])
})

test('reserved cgroups: memory.min with any policy, zero with the gate off', async () => {
  const fixture = await startFixture({ ...tiered, policy: 'None' })
  await fixture.cgroups.ensure('/kube/reserved')
  fixture.input = withKubeReserved(fixture.input, '/kube/reserved', '200Mi')
  await fixture.pass()
  expect(fixture.text('/kube/reserved', 'memory.min')).toBe(mib(200))
  expect(fixture.text('/kube/reserved', 'memory.max')).toBe('max')
  fixture.input = { ...fixture.input, memoryQos: gateOff }
  await fixture.pass()
  expect(fixture.text('/kube/reserved', 'memory.min')).toBe('0')
})

test('one container that cannot be written does not stop the others', async () => {
  const fixture = await node(tiered)
  fixture.cgroups.refuse('/kubepods/burstable', 'memory.low', 'EACCES')
  const report = await fixture.pass()
  expect(report.failures).toBe(1)
  expect(report.findings.filter((f) => f.id === 'write-failed')).toHaveLength(1)
  fixture.cgroups.refuse('/kubepods/burstable', 'memory.low', undefined)
  await fixture.pass()
  expect(shown(fixture)).toEqual(expected.tiered)
})

test('every finding has an id of the list once', () => {
  expect(new Set(findingIds).size).toBe(findingIds.length)
})

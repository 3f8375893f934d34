// The engine on a tree in memory with the kernel's rules: values at every level, nothing without a change, drift, rollback.
import { describe, expect, test } from 'vitest'
import { findingIds } from '../../src/core/memory-qos/findings.js'
import type { MemoryQosSettings } from '../../src/core/memory-qos/settings.js'
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

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' }, side: { request: '64Mi' } })
const db = guaranteed('db', '512Mi')
const batch = makePod('batch', { job: {} })

async function node(settings: MemoryQosSettings): Promise<MemoryBed> {
  const bed = await startBed(settings)
  for (const pod of [web, db, batch]) await bed.run(pod)
  return bed
}

const files = ['memory.min', 'memory.low', 'memory.high'] as const
/** min low high of every level, for one look. */
function shown(bed: MemoryBed): Record<string, string> {
  const at = (path: string): string => files.map((file) => bed.text(path, file)).join(' ')
  return {
    kubepods: at('/kubepods'),
    burstable: at('/kubepods/burstable'),
    besteffort: at('/kubepods/besteffort'),
    db: at('/kubepods/poduid-db'),
    'db/app': at(bed.containerPath(db, 'app')),
    web: at('/kubepods/burstable/poduid-web'),
    'web/app': at(bed.containerPath(web, 'app')),
    'web/side': at(bed.containerPath(web, 'side')),
    'batch/job': at(bed.containerPath(batch, 'job')),
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
      const bed = await node(settings)
      await bed.pass()
      expect(shown(bed)).toEqual(values)
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
      const bed = await node(road[0] ?? tiered)
      for (const memoryQos of road) {
        bed.input = { ...bed.input, memoryQos }
        await bed.pass()
        const fresh = await node(memoryQos)
        await fresh.pass()
        expect(shown(bed)).toEqual(shown(fresh))
      }
    })

  test('a restart after the gate went off clears what an earlier process left', async () => {
    const bed = await node(tiered)
    await bed.pass()
    const signal = new AbortController().signal
    await bed.newEngine().pass({ ...bed.input, memoryQos: gateOff }, { signal })
    expect(shown(bed)).toEqual(resting)
  })

  test('request-only change: pod, burstable, kubepods and memory.high follow', async () => {
    const bed = await node(tiered)
    await bed.pass()
    const grown = makePod('web', { app: { request: '192Mi', limit: '256Mi' }, side: { request: '64Mi' } })
    bed.input = { ...bed.input, pods: [grown, db, batch] }
    await bed.pass()
    expect(shown(bed)).toMatchObject({
      kubepods: `${mib(768)} ${mib(256)} max`,
      burstable: `0 ${mib(256)} max`,
      web: `0 ${mib(256)} max`,
      'web/app': `0 ${mib(192)} 261722112`,
    })
  })

  test('limit removed: memory.high follows allocatable memory', async () => {
    const bed = await node(tiered)
    await bed.pass()
    const open = makePod('web', { app: { request: '128Mi' }, side: { request: '64Mi' } })
    bed.input = { ...bed.input, pods: [open, db, batch] }
    await bed.pass()
    expect(shown(bed)['web/app']).toBe(`0 ${mib(128)} 7563165696`)
  })

  test('the last Burstable pod leaves: burstable and kubepods shrink', async () => {
    const bed = await node(tiered)
    await bed.pass()
    await bed.end(web)
    await bed.pass()
    expect(bed.text('/kubepods/burstable', 'memory.low')).toBe('0')
    expect(bed.text('/kubepods', 'memory.low')).toBe('0')
    expect(bed.text('/kubepods', 'memory.min')).toBe(mib(512))
  })
})

describe('a pass without a change', () => {
  test('110 pods: no write and no changing call', async () => {
    const bed = await startBed(tiered)
    for (let n = 0; n < 110; n++) await bed.run(makePod(`p${n}`, { app: { request: '10Mi', limit: '20Mi' } }))
    await bed.pass()
    bed.cgroups.calls.length = 0
    bed.updates.length = 0
    const report = await bed.pass()
    expect(report).toMatchObject({ writes: 0, calls: 0, failures: 0, drifts: 0, findings: [] })
    expect(bed.cgroups.calls).toEqual([])
    expect(bed.updates).toEqual([])
  })

  test('files of others stay as they are over ten passes and through changes of ours', async () => {
    const bed = await node(tiered)
    await bed.pass()
    const foreign: readonly (readonly [string, string, string])[] = [
      ['/kubepods', 'cpu.weight', '7'],
      ['/kubepods', 'memory.max', mib(4000)],
      ['/kubepods/burstable', 'pids.max', '777'],
      ['/kubepods/burstable/poduid-web', 'cpu.max', '20000 100000'],
      [bed.containerPath(web, 'app'), 'memory.max', mib(300)],
    ]
    for (const [path, file, value] of foreign) bed.cgroups.kernel.write(path, file, value)
    for (let i = 0; i < 10; i++) {
      bed.input = { ...bed.input, memoryQos: i % 2 === 0 ? hard : tiered }
      await bed.pass()
    }
    for (const [path, file, value] of foreign) expect(bed.text(path, file), `${path} ${file}`).toBe(value)
  })
})

test('a runtime that re-applies its whole record: what others tuned in the container is put back', async () => {
  const bed = await node(tiered)
  const app = bed.containerPath(web, 'app')
  const foreign = { 'cpu.weight': '55', 'memory.max': mib(300), 'pids.max': '77' }
  for (const [file, value] of Object.entries(foreign)) bed.cgroups.kernel.setText(app, file, value)
  const { updateContainerResources } = bed.runtime
  bed.runtime.updateContainerResources = async (request, options) => {
    if (request.containerId === bed.ids.get('web/app'))
      for (const file of Object.keys(foreign)) bed.cgroups.kernel.setText(app, file, '4096')
    return updateContainerResources(request, options)
  }
  await bed.pass()
  for (const [file, value] of Object.entries(foreign)) expect(bed.text(app, file), file).toBe(value)
})

describe('somebody else writes', () => {
  test('our value is put back three times in ten minutes, then reported', async () => {
    const bed = await node(tiered)
    await bed.pass()
    let writes = 0
    let last = await bed.pass()
    for (let i = 0; i < 9; i++) {
      bed.cgroups.kernel.write('/kubepods', 'memory.low', '0')
      await bed.clock.advance(60_000)
      last = await bed.pass()
      writes += last.writes
    }
    expect(writes).toBe(3)
    expect(last.drifts).toBe(1)
    expect(last.findings).toMatchObject([{ id: 'drift', subject: '/kubepods' }])
    expect(bed.text('/kubepods', 'memory.low')).toBe('0')
  })

  test('a restarted container starts with the runtime’s values and is brought to ours', async () => {
    const bed = await node(tiered)
    await bed.pass()
    await bed.restart(web, 'app')
    const report = await bed.pass()
    expect(report.calls).toBe(1)
    expect(shown(bed)).toEqual(expected.tiered)
  })

  test('a runtime that ignores unified is named, and not asked for ever', async () => {
    const bed = await node(tiered)
    bed.ignoresUnified = true
    const report = await bed.pass()
    expect(report.findings.map((f) => f.id)).toContain('unified-ignored')
    for (let i = 0; i < 8; i++) await bed.pass()
    const asked = bed.updates.filter((u) => u.containerId === bed.ids.get('web/app')).length
    expect(asked).toBe(4)
  })
})

test('memory.high below usage waits one period, with a finding, then is written', async () => {
  const bed = await node({ ...tiered, factor: undefined })
  await bed.pass()
  const app = bed.containerPath(web, 'app')
  bed.cgroups.kernel.setText(app, 'memory.current', mib(250))
  bed.input = { ...bed.input, memoryQos: tiered }
  const held = await bed.pass()
  expect(held.findings).toMatchObject([{ id: 'high-below-usage', subject: app }])
  expect(bed.text(app, 'memory.high')).toBe('max')
  await bed.clock.advance(60_000)
  await bed.pass()
  expect(bed.text(app, 'memory.high')).toBe(webHigh)
})

test('growth covers children at every moment, and shrinking never uncovers one', async () => {
  const bed = await startBed(tiered)
  await bed.run(web)
  await bed.run(db)
  const seen: string[] = []
  const look = (): void => {
    for (const file of ['memory.min', 'memory.low'] as const) {
      for (const path of ['/kubepods/burstable/poduid-web', '/kubepods/poduid-db']) {
        const parent = path.slice(0, path.lastIndexOf('/'))
        const own = BigInt(bed.text(path, file) ?? '0')
        if (own > BigInt(bed.text(parent, file) ?? '0')) seen.push(`${path} ${file}`)
      }
    }
  }
  const write = bed.cgroups.write.bind(bed.cgroups)
  bed.cgroups.write = (path, file, value) => {
    write(path, file, value)
    look()
  }
  for (const memoryQos of [tiered, hard, tiered, gateOff, hard, gateOff]) {
    bed.input = { ...bed.input, memoryQos }
    await bed.pass()
  }
  expect(seen).toEqual([])
})

test('reserved cgroups: memory.min with any policy, zero with the gate off', async () => {
  const bed = await startBed({ ...tiered, policy: 'None' })
  await bed.cgroups.ensure('/kube/reserved')
  bed.input = withKubeReserved(bed.input, '/kube/reserved', '200Mi')
  await bed.pass()
  expect(bed.text('/kube/reserved', 'memory.min')).toBe(mib(200))
  expect(bed.text('/kube/reserved', 'memory.max')).toBe('max')
  bed.input = { ...bed.input, memoryQos: gateOff }
  await bed.pass()
  expect(bed.text('/kube/reserved', 'memory.min')).toBe('0')
})

test('one container that cannot be written does not stop the others', async () => {
  const bed = await node(tiered)
  bed.cgroups.refuse('/kubepods/burstable', 'memory.low', 'EACCES')
  const report = await bed.pass()
  expect(report.failures).toBe(1)
  expect(report.findings.filter((f) => f.id === 'write-failed')).toHaveLength(1)
  bed.cgroups.refuse('/kubepods/burstable', 'memory.low', undefined)
  await bed.pass()
  expect(shown(bed)).toEqual(expected.tiered)
})

test('every finding has an id of the list once', () => {
  expect(new Set(findingIds).size).toBe(findingIds.length)
})

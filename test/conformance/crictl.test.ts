// What the critest unit makes of crictl's outputs and of a runtime's metrics.
import { describe, expect, test } from 'vitest'
import { compareOutputs, pathsOf, readShownDriver } from '../../conformance/critest/crictl-outputs.js'
import { excused, judgeMetrics } from '../../conformance/critest/metrics-contract.js'
import { requiredMetrics } from '../../src/stats/catalogue/required.js'

const printed = (stdout: unknown, status = 0, stderr = '') => ({
  status,
  stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout),
  stderr,
})

describe('compareOutputs', () => {
  test('text: to the letter', () => {
    expect(compareOutputs('text', printed('a\n'), printed('a\n'))).toEqual([])
    expect(compareOutputs('text', printed('a\n'), printed('a'))).toHaveLength(1)
  })

  test('json: order of keys and lists does not count, values do', () => {
    const direct = printed({ items: [{ id: 'a', tags: ['x', 'y'] }, { id: 'b' }] })
    expect(
      compareOutputs('json', direct, printed({ items: [{ id: 'b' }, { tags: ['y', 'x'], id: 'a' }] })),
    ).toEqual([])
    expect(
      compareOutputs('json', direct, printed({ items: [{ id: 'a', tags: ['x'] }, { id: 'b' }] })),
    ).toEqual([expect.stringMatching(/^items: /)])
    expect(compareOutputs('json', direct, printed({ items: [{ id: 'b' }] }))).toHaveLength(1)
  })

  test('info: only the entry of the server is new', () => {
    const direct = printed({ status: { a: 1 } })
    expect(compareOutputs('info', direct, printed({ status: { a: 1 }, keelson: {} }))).toEqual([])
    expect(compareOutputs('info', direct, printed({ status: { a: 1 }, other: 1 }))).toEqual([
      'other: directly nothing, through 1',
    ])
    expect(compareOutputs('json', direct, printed({ status: { a: 1 }, keelson: {} }))).toHaveLength(1)
  })

  test('values: more fields are well, fewer are not', () => {
    const direct = printed({ stats: [{ cpu: { v: 1 } }] })
    expect(compareOutputs('values', direct, printed({ stats: [{ cpu: { v: 7, nano: 2 } }] }))).toEqual([])
    expect(compareOutputs('values', direct, printed({ stats: [{ cpu: {} }] }))).toEqual([
      '.stats[].cpu.v is missing through the server',
    ])
  })

  for (const [direct, through, wrong] of [
    [1, 0, false],
    [0, 1, true],
    [1, 1, false],
    [1, 2, true],
  ] as const)
    test(`status ${direct} directly and ${through} through: ${wrong ? 'wrong' : 'well'}`, () => {
      expect(compareOutputs('text', printed('', direct), printed('', through)).length > 0).toBe(wrong)
    })
})

test('pathsOf: a 0 that stands for unknown is no leaf, any other is', () => {
  const cpu = { usageNanoCores: { value: '0' }, usageCoreNanoSeconds: { value: '0' } }
  expect(pathsOf({ cpu })).toEqual(['.cpu.usageCoreNanoSeconds.value'])
  expect(pathsOf({ cpu: { usageNanoCores: { value: '7' } } })).toEqual(['.cpu.usageNanoCores.value'])
})

test('pathsOf: leaves only, one path for all items', () => {
  expect(pathsOf({ a: [{ b: 1 }, { b: 2, c: null }], d: {} })).toEqual(['.a[].b'])
})

describe('readShownDriver', () => {
  const entry = {
    cgroupDriver: 'cgroupfs',
    cgroupDriverSource: 'status',
    cgroupDriverEvidence: ['x'],
    mode: 'complete',
  }
  test('the driver with its evidence', () => {
    expect(readShownDriver(JSON.stringify({ keelson: entry }))).toMatchObject({ cgroupDriver: 'cgroupfs' })
  })
  for (const [name, document] of [
    ['no entry', {}],
    ['no driver', { keelson: { ...entry, cgroupDriver: null } }],
    ['no evidence', { keelson: { ...entry, cgroupDriverEvidence: [] } }],
  ] as const)
    test(`${name} is an error`, () => {
      expect(() => readShownDriver(JSON.stringify(document))).toThrow(/crictl info shows no/)
    })
})

describe('judgeMetrics', () => {
  const descriptors = requiredMetrics.map((name) => ({ name, help: 'h', labelKeys: ['id'] }))
  const metrics = requiredMetrics.map((name) => ({ name, labelValues: ['x'] }))
  const without = (name: string) => (m: { readonly name: string }) => m.name !== name

  test('all of them', () => {
    expect(judgeMetrics(descriptors, metrics)).toEqual({ problems: [], absent: [] })
  })

  test('what critest excuses may be absent, and is named', () => {
    const kept = <T extends { readonly name: string }>(list: readonly T[]) =>
      list.filter((m) => !excused.has(m.name))
    const { problems, absent } = judgeMetrics(kept(descriptors), kept(metrics))
    expect(problems).toEqual([])
    expect([...absent].sort()).toEqual([...excused].sort())
  })

  test('of what the runtime declares itself, the excused ones may have no value', () => {
    const name = 'container_hugetlb_usage_bytes'
    const filled = metrics.filter(without(name))
    expect(judgeMetrics(descriptors, filled, new Set([name])).problems).toEqual([])
    expect(judgeMetrics(descriptors, filled).problems).toEqual([`${name} is declared and has no value`])
    const needed = judgeMetrics(
      descriptors,
      metrics.filter(without('container_threads')),
      new Set(['container_threads']),
    )
    expect(needed.problems).toEqual(['container_threads is declared and has no value'])
  })

  test('block I/O may have no value', () => {
    expect(judgeMetrics(descriptors, metrics.filter(without('container_fs_reads_total'))).problems).toEqual(
      [],
    )
  })

  for (const { name, given, problem } of [
    {
      name: 'a required name without descriptor',
      given: [descriptors.filter(without('container_threads')), metrics],
      problem: 'container_threads has no descriptor',
    },
    {
      name: 'a value that is missing',
      given: [descriptors, metrics.filter(without('container_threads'))],
      problem: 'container_threads is declared and has no value',
    },
    {
      name: 'a value without labels',
      given: [
        descriptors,
        metrics.map((m) => (m.name === 'container_threads' ? { ...m, labelValues: [] } : m)),
      ],
      problem: 'container_threads is declared and has no value',
    },
    {
      name: 'an excused name that is declared and not filled',
      given: [descriptors, metrics.filter(without('container_ulimits_soft'))],
      problem: 'container_ulimits_soft is declared and has no value',
    },
    {
      name: 'label values that do not fit the keys',
      given: [
        descriptors,
        metrics.map((m) => (m.name === 'container_threads' ? { ...m, labelValues: ['a', 'b'] } : m)),
      ],
      problem: 'container_threads has 2 label values for 1 keys',
    },
    {
      name: 'no help',
      given: [descriptors.map((d) => (d.name === 'container_threads' ? { ...d, help: '' } : d)), metrics],
      problem: 'container_threads has no help',
    },
  ] as const)
    test(`sees ${name}`, () => {
      expect(judgeMetrics(given[0], given[1]).problems).toContain(problem)
    })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertProperty } from '../../test/support/property.js'
import { type CgroupMemory, planMemoryWrites, readBack } from './memory-transition.js'
import { isMemoryFile, memoryFiles } from './unified.js'

const page = 4096n
const cgroup = (id: string, depth: number, observed: object, desired: object): CgroupMemory => ({
  id,
  depth,
  observed,
  desired,
})
const shown = (cgroups: readonly CgroupMemory[]) =>
  planMemoryWrites(cgroups, page).map((w) => `${w.id} ${w.file}=${w.value}`)

test('read back: whole pages, and max from about 2^63', () => {
  expect(readBack('100000000', page)).toBe(99999744n)
  expect(readBack('max\n', page)).toBe('max')
  expect(readBack('9223372036854775807', page)).toBe('max')
  expect(readBack('9223372036854767616', page)).toBe(9223372036854767616n)
  expect(() => readBack('lots', page)).toThrowError(/lots/)
})

describe('the plan', () => {
  test('nothing to do, also after flooring', () => {
    const low = { 'memory.low': '99999744' }
    expect(shown([cgroup('pod', 2, low, { 'memory.low': '100000000' }), cgroup('c', 3, low, low)])).toEqual(
      [],
    )
  })
  test('protection grows from the root down', () => {
    const grow = [{ 'memory.low': '0' }, { 'memory.low': '8192' }] as const
    expect(
      shown([cgroup('c', 3, ...grow), cgroup('pod', 2, ...grow), cgroup('kubepods', 0, ...grow)]),
    ).toEqual(['kubepods memory.low=8192', 'pod memory.low=8192', 'c memory.low=8192'])
  })
  test('and shrinks from the leaves up', () => {
    const shrink = [{ 'memory.min': '8192' }, { 'memory.min': '0' }] as const
    expect(shown([cgroup('kubepods', 0, ...shrink), cgroup('c', 3, ...shrink)])).toEqual([
      'c memory.min=0',
      'kubepods memory.min=0',
    ])
  })
  test('hard to tiered: never without protection in between', () => {
    const files = [
      { 'memory.min': '8192', 'memory.low': '0' },
      { 'memory.min': '0', 'memory.low': '8192' },
    ] as const
    expect(shown([cgroup('pod', 2, ...files), cgroup('c', 3, ...files)])).toEqual([
      'pod memory.low=8192',
      'c memory.low=8192',
      'c memory.min=0',
      'pod memory.min=0',
    ])
  })
  test('lifting a throttle is growth, a limit shrinks in the container first', () => {
    expect(
      shown([
        cgroup('pod', 2, { 'memory.max': '16384' }, { 'memory.max': '8192' }),
        cgroup(
          'c',
          3,
          { 'memory.high': '4096', 'memory.max': 'max' },
          { 'memory.high': 'max', 'memory.max': '8192' },
        ),
      ]),
    ).toEqual(['c memory.high=max', 'c memory.max=8192', 'pod memory.max=8192'])
  })
  test('files that do not exist or are not ours are left alone', () => {
    expect(
      shown([cgroup('c', 3, {}, { 'memory.min': '8192' }), cgroup('d', 3, { 'memory.max': '1' }, {})]),
    ).toEqual([])
  })
})

const text = fc.oneof(fc.constant('max'), fc.bigInt({ min: 0n, max: 2n ** 40n }).map(String))
const files = fc.record(Object.fromEntries(memoryFiles.map((f) => [f, text])), { requiredKeys: [] })
const anyTree = fc.array(fc.record({ depth: fc.nat(3), observed: files, desired: files }), { maxLength: 6 })

test('carrying the plan out leaves nothing to do', () => {
  assertProperty(
    fc.property(anyTree, (tree) => {
      const before = tree.map((c, i): CgroupMemory => ({ id: `${i}`, ...c }))
      const contents = new Map(before.map((c) => [c.id, { ...c.observed }]))
      for (const { id, file, value } of planMemoryWrites(before, page)) {
        expect(isMemoryFile(file)).toBe(true)
        Object.assign(contents.get(id) ?? {}, { [file]: String(readBack(value, page)) })
      }
      const after = before.map((c) => ({ ...c, observed: contents.get(c.id) ?? {} }))
      expect(planMemoryWrites(after, page)).toEqual([])
    }),
    { numRuns: 2000 },
  )
})

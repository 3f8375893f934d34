import { describe, expect, test } from 'vitest'
import {
  decideFile,
  type FileDecisionInput,
  type FileHistory,
  highGraceNanos,
  maxPutBack,
  nextHistory,
  noHistory,
  putBackWindowNanos,
} from './decide.js'

const second = 1_000_000_000n
const base: FileDecisionInput = {
  file: 'memory.low',
  desired: '8192',
  observed: '0',
  history: noHistory,
  usage: 0n,
  nowNanos: 1000n * second,
  pageSize: 4096n,
}
const applied = (text: string): FileHistory => ({ ...noHistory, applied: text })

describe('one file', () => {
  for (const { name, input, decision } of [
    { name: 'first pass, differs', input: {}, decision: { kind: 'write', why: 'first', grows: true } },
    {
      name: 'first pass, equal after page flooring',
      input: { desired: '100000000', observed: '99999744' },
      decision: { kind: 'settled' },
    },
    {
      name: 'max and a value beyond 2^63 agree',
      input: { file: 'memory.high', desired: '9223372036854775807', observed: 'max' },
      decision: { kind: 'settled' },
    },
    {
      name: 'the computed value changed',
      input: { history: applied('4096'), observed: '4096' },
      decision: { kind: 'write', why: 'changed', grows: true },
    },
    {
      name: 'made under other settings, and those stay: left at the first look',
      input: { keepsFound: true },
      decision: { kind: 'kept' },
    },
    {
      name: 'left for this wanted value: still left',
      input: { keepsFound: true, history: { ...noHistory, keptFor: '8192' } },
      decision: { kind: 'kept' },
    },
    {
      name: 'left for another wanted value: written now',
      input: { keepsFound: true, history: { ...noHistory, keptFor: '4096' } },
      decision: { kind: 'write', why: 'first', grows: true },
    },
    {
      name: 'somebody reset it',
      input: { history: applied('8192') },
      decision: { kind: 'write', why: 'drift', grows: true },
    },
    {
      name: 'put back three times within ten minutes: only reported',
      input: {
        history: { ...applied('8192'), putBackNanos: [500n, 700n, 900n].map((s) => s * second) },
      },
      decision: { kind: 'drift', putBack: 3 },
    },
    {
      name: 'the oldest of them is ten minutes ago: put back again',
      input: {
        history: { ...applied('8192'), putBackNanos: [400n, 700n, 900n].map((s) => s * second) },
      },
      decision: { kind: 'write', why: 'drift', grows: true },
    },
    {
      name: 'a computed change is written whatever was put back before',
      input: {
        history: { ...applied('4096'), putBackNanos: [500n, 700n, 900n].map((s) => s * second) },
      },
      decision: { kind: 'write', why: 'changed', grows: true },
    },
    {
      name: 'memory.high below usage waits',
      input: { file: 'memory.high', desired: '4096', observed: 'max', usage: 8192n },
      decision: { kind: 'held', usage: 8192n },
    },
    {
      name: 'memory.high below usage is written after the grace',
      input: {
        file: 'memory.high',
        desired: '4096',
        observed: 'max',
        usage: 8192n,
        history: { ...noHistory, heldSinceNanos: 1000n * second - highGraceNanos },
      },
      decision: { kind: 'write', why: 'first', grows: false },
    },
    {
      name: 'memory.high that grows is never held',
      input: { file: 'memory.high', desired: '8192', observed: '4096', usage: 16384n },
      decision: { kind: 'write', why: 'first', grows: true },
    },
    {
      name: 'memory.low shrinks whatever is in use',
      input: { desired: '0', observed: '8192', usage: 16384n },
      decision: { kind: 'write', why: 'first', grows: false },
    },
  ] as const)
    test(name, () => expect(decideFile({ ...base, ...input })).toEqual(decision))
})

test('another writer that never gives up is answered three times in ten minutes', () => {
  let history: FileHistory = applied('8192')
  let writes = 0
  let reports = 0
  for (let s = 0n; s < 1200n; s += 60n) {
    const input = { ...base, history, nowNanos: s * second }
    const decision = decideFile(input)
    if (decision.kind === 'write') writes++
    if (decision.kind === 'drift') reports++
    history = nextHistory(input, decision, true)
  }
  expect(writes).toBe(2 * maxPutBack)
  expect(reports).toBe(20 - 2 * maxPutBack)
  expect(putBackWindowNanos).toBe(600n * second)
})

test('a write that failed is tried again as what it was', () => {
  const decision = decideFile(base)
  const history = nextHistory(base, decision, false)
  expect(decideFile({ ...base, history })).toEqual({ kind: 'write', why: 'first', grows: true })
})

describe('a kubelet that resets our values when it starts', () => {
  const started = (n: bigint, ageMs: number) => ({ pid: 800 + Number(n), id: `kubelet ${n}`, ageMs })

  test('is answered each time, however often it starts', () => {
    let history: FileHistory = applied('8192')
    for (let n = 0n; n < 20n; n++)
      // It writes while it starts and once more a little later.
      for (const ageMs of [2_000, 20_000]) {
        const input = { ...base, history, nowNanos: n * 30n * second, kubelet: started(n, ageMs) }
        const decision = decideFile(input)
        expect(decision).toMatchObject({ kind: 'write', why: 'drift' })
        history = nextHistory(input, decision, true)
      }
    expect(history.putBackNanos).toEqual([])
  })

  test('one that runs for long and keeps resetting them is another writer', () => {
    let history: FileHistory = applied('8192')
    const kinds = Array.from({ length: 6 }, (_, n) => {
      const input = { ...base, history, nowNanos: BigInt(n) * second, kubelet: started(1n, 3_600_000) }
      const decision = decideFile(input)
      history = nextHistory(input, decision, true)
      return decision.kind
    })
    // The first one may be from its start.
    expect(kinds).toEqual(['write', 'write', 'write', 'write', 'drift', 'drift'])
  })
})

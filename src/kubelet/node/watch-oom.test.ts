import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { createKernelLog } from '../../adapters/procfs/kernel-log.js'
import type { KernelRecord } from '../../core/kernel-text/oom-kill.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import type { KernelRecords } from '../../ports/procfs.js'
import { watchOom } from './watch-oom.js'

const kill = (pid: number, where: string): string =>
  `oom-kill:constraint=CONSTRAINT_X,nodemask=(null),cpuset=/,mems_allowed=0,${where},task_memcg=/a,task=stress,pid=${pid},uid=0`

function startWatch(records: KernelRecord[]) {
  const clock = new FakeClock()
  const ends = new AbortController()
  const said: string[] = []
  const state = { kills: 1n, isOpen: true, most: 0 }
  const openRecords = (): KernelRecords => {
    let at = 0
    return {
      next(most) {
        const found = records.slice(at, at + most)
        at += found.length
        state.most = Math.max(state.most, found.length)
        return { records: found, isLast: at === records.length }
      },
      close: () => {
        state.isOpen = false
      },
    }
  }
  const done = watchOom({
    kernel: { oomKills: () => state.kills, openRecords },
    clock,
    log: new FakeLog(),
    event: ({ reason, message }) => said.push(`${reason} ${message}`),
    signal: ends.signal,
  })
  return { clock, ends, said, state, done }
}

test('each kill of the machine is one event; kills within a cgroup, and those before the start, are none', async () => {
  const records = [{ sequence: 5n, text: kill(1, 'global_oom') }]
  const { clock, ends, said, state, done } = startWatch(records)
  await clock.advance(0)
  await clock.advance(60_000)
  expect(said).toEqual([])
  records.push(
    { sequence: 9n, text: kill(2, 'global_oom') },
    { sequence: 10n, text: kill(3, 'oom_memcg=/kubepods') },
    { sequence: 11n, text: 'something else' },
  )
  state.kills = 3n
  await clock.advance(5_000)
  await clock.advance(60_000)
  expect(said).toEqual(['SystemOOM System OOM encountered, victim process: stress, pid: 2'])
  ends.abort()
  await done
  expect(state.isOpen).toBe(false)
})

test('a kill of a whole cgroup counts each process and has one record: none from before the start is told for it', async () => {
  const records = [
    { sequence: 5n, text: kill(1, 'global_oom') },
    { sequence: 6n, text: kill(2, 'global_oom') },
  ]
  const { clock, ends, said, state, done } = startWatch(records)
  await clock.advance(0)
  await clock.advance(60_000)
  records.push({ sequence: 9n, text: kill(3, 'oom_memcg=/kubepods') })
  state.kills = 7n
  await clock.advance(60_000)
  expect(said).toEqual([])
  ends.abort()
  await done
})

test('a log of ten thousand records is read in parts, and none of them is told', async () => {
  const records = Array.from({ length: 10_000 }, (_, i) => ({
    sequence: BigInt(i),
    text: kill(i, 'global_oom'),
  }))
  const { clock, ends, said, state, done } = startWatch(records)
  const isRead = async (): Promise<string[]> => {
    await clock.advance(5_000)
    return said
  }
  await isRead()
  await expect
    .poll(async () => {
      records.push({ sequence: BigInt(records.length), text: kill(77, 'global_oom') })
      state.kills++
      return (await isRead()).length
    })
    .toBeGreaterThan(0)
  expect(new Set(said)).toEqual(
    new Set(['SystemOOM System OOM encountered, victim process: stress, pid: 77']),
  )
  expect(state.most).toBeLessThan(1_000)
  ends.abort()
  await done
})

test('the log of this kernel is read to its end without waiting', (ctx) => {
  requires(ctx, { root: true })
  const log = createKernelLog()
  const reader = log.openRecords()
  // A container may not be allowed to read it, whoever runs in it.
  if (reader === undefined) return ctx.skip('/dev/kmsg cannot be read here')
  expect(execFileSync('cat', ['/proc/vmstat'], { encoding: 'utf8' })).toContain(`oom_kill ${log.oomKills()}`)
  const first = reader.next(10)
  const rest = reader.next(1_000_000)
  const sequences = [...first.records, ...rest.records].map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.toSorted((a, b) => (a < b ? -1 : 1)))
  expect(new Set(sequences).size).toBe(sequences.length)
  expect(rest.isLast).toBe(true)
  for (const { sequence } of reader.next(1_000).records)
    expect(sequence).toBeGreaterThan(sequences.at(-1) ?? -1n)
  reader.close()
})

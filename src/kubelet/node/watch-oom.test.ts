import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { requires } from '../../../test/support/requirements.js'
import { createKernelLog } from '../../adapters/procfs/kernel-log.js'
import { FakeClock } from '../../fakes/clock.js'
import { FakeLog } from '../../fakes/log.js'
import { watchOom } from './watch-oom.js'

const kill = (pid: number, where: string): string =>
  `oom-kill:constraint=CONSTRAINT_X,nodemask=(null),cpuset=/,mems_allowed=0,${where},task_memcg=/a,task=stress,pid=${pid},uid=0`

test('each kill of the machine is one event; kills within a cgroup, and those before the start, are none', async () => {
  const clock = new FakeClock()
  const ends = new AbortController()
  const said: string[] = []
  let kills = 1n
  const records = [{ sequence: 5n, text: kill(1, 'global_oom') }]
  const done = watchOom({
    kernel: { oomKills: () => kills, records: () => records },
    clock,
    log: new FakeLog(),
    event: ({ reason, message }) => said.push(`${reason} ${message}`),
    signal: ends.signal,
  })
  await clock.advance(0)
  await clock.advance(60_000)
  expect(said).toEqual([])
  records.push(
    { sequence: 9n, text: kill(2, 'global_oom') },
    { sequence: 10n, text: kill(3, 'oom_memcg=/kubepods') },
    { sequence: 11n, text: 'something else' },
  )
  kills = 3n
  await clock.advance(5_000)
  await clock.advance(60_000)
  expect(said).toEqual(['SystemOOM System OOM encountered, victim process: stress, pid: 2'])
  ends.abort()
  await done
})

test('a kill of a whole cgroup counts each process and has one record: none from before the start is told for it', async () => {
  const clock = new FakeClock()
  const ends = new AbortController()
  const said: string[] = []
  let kills = 2n
  const records = [
    { sequence: 5n, text: kill(1, 'global_oom') },
    { sequence: 6n, text: kill(2, 'global_oom') },
  ]
  const done = watchOom({
    kernel: { oomKills: () => kills, records: () => records },
    clock,
    log: new FakeLog(),
    event: ({ message }) => said.push(message),
    signal: ends.signal,
  })
  await clock.advance(0)
  records.push({ sequence: 9n, text: kill(3, 'oom_memcg=/kubepods') })
  kills = 7n
  await clock.advance(60_000)
  expect(said).toEqual([])
  ends.abort()
  await done
})

test('the log of this kernel is read to its end without waiting', (ctx) => {
  requires(ctx, { root: true })
  const log = createKernelLog()
  const records = log.records()
  // A container may not be allowed to read it, whoever runs in it.
  if (records === undefined) return ctx.skip('/dev/kmsg cannot be read here')
  expect(execFileSync('cat', ['/proc/vmstat'], { encoding: 'utf8' })).toContain(`oom_kill ${log.oomKills()}`)
  const sequences = records.map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.toSorted((a, b) => (a < b ? -1 : 1)))
})

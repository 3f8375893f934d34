import { expect, test } from 'vitest'
import { parseKernelRecord, parseOomKill } from './oom-kill.js'

const global =
  'oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=stress,pid=4711,uid=0'
const ofCgroup =
  'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c1,mems_allowed=0,oom_memcg=/kubepods/pod1,task_memcg=/kubepods/pod1/c1,task=a,b,pid=12,uid=1000'

test('a kill of the machine, and one of a cgroup', () => {
  expect(parseOomKill(global)).toEqual({ process: 'stress', pid: 4711, isGlobal: true })
  expect(parseOomKill(ofCgroup)).toEqual({ process: 'a,b', pid: 12, isGlobal: false })
  expect(parseOomKill(ofCgroup.replace('oom_memcg=/kubepods/pod1,', 'oom_memcg=/,'))?.isGlobal).toBe(true)
})

test('a cgroup cannot pretend to be the machine by its name', () => {
  expect(parseOomKill(ofCgroup.replace('/kubepods/pod1,', '/kubepods/global_oom/x,'))?.isGlobal).toBe(false)
})

test('other lines and damaged records are nothing', () => {
  for (const text of ['', 'Out of memory: Killed process 7 (x)', 'oom-kill:', `x${global}`])
    expect(parseOomKill(text)).toBeUndefined()
  for (const text of ['', '6,1', 'a,b,c,d;x']) expect(parseKernelRecord(text)).toBeUndefined()
})

test('a record of /dev/kmsg with its continuation lines', () => {
  expect(parseKernelRecord(`6,1234,98765,-;${global}\n SUBSYSTEM=x\n`)).toEqual({
    sequence: 1234n,
    text: global,
  })
})

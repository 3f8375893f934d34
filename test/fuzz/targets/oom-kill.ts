// Records of /dev/kmsg and the OOM killer's line: names of processes in it are whatever a container called them.
import { parseKernelRecord, parseOomKill } from '../../../src/core/kernel-text/oom-kill.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const lines = [
  '6,1234,98765,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=x,pid=7,uid=0\n',
  '4,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=c,mems_allowed=0,oom_memcg=/k,task_memcg=/k/c,task=a,b,pid=12,uid=1\n K=v\n',
] as const

export const oomKill: FuzzTarget = {
  name: 'oom-kill',
  generate: (random: Random) => mutateText(random.pick(lines), random),
  run(input) {
    const record = parseKernelRecord(input as string)
    const kill = record && parseOomKill(record.text)
    if (kill !== undefined)
      check(Number.isSafeInteger(kill.pid) && kill.process !== '', 'a kill has a process')
  },
}

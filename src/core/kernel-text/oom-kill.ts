// The line with which the kernel logs a kill by the OOM killer, and the records of /dev/kmsg that it is in.

interface OomKill {
  readonly process: string
  readonly pid: number
  /** The machine was out of memory, not only a cgroup. */
  readonly isGlobal: boolean
}

export interface KernelRecord {
  readonly sequence: bigint
  readonly text: string
}

/** `6,1234,5678901,-;message`, then lines that begin with a blank. Undefined: not a record. */
export function parseKernelRecord(record: string): KernelRecord | undefined {
  const match = /^\d+,(\d{1,19}),\d+,[^;]*;([^\n]*)/.exec(record)
  return match === null ? undefined : { sequence: BigInt(match[1] ?? '0'), text: match[2] ?? '' }
}

/**
 * `oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=stress,pid=7,uid=0`,
 * since Linux 5.0. Undefined: another line.
 */
export function parseOomKill(text: string): OomKill | undefined {
  // Names of tasks have at most 15 characters and may hold commas.
  const match = /^oom-kill:constraint=\w+,(.*),task=(.{1,64}),pid=(\d{1,10}),uid=\d+$/.exec(text)
  if (match === null) return undefined
  const [, where = '', process = '', pid = ''] = match
  return {
    process,
    pid: Number(pid),
    isGlobal: /(^|,)global_oom(,|$)/.test(where) || /(^|,)oom_memcg=\/(,|$)/.test(where),
  }
}

// /proc/PID/limits: the soft limit of open files. Asked for each container at each sample, so that the other lines are not parsed.

export type MaxOpenFiles = bigint | 'unlimited' | undefined

export function parseMaxOpenFiles(text: string): MaxOpenFiles {
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1]
  return soft === undefined || soft === 'unlimited' ? soft : BigInt(soft)
}

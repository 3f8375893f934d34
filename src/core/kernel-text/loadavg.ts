// /proc/loadavg: `0.20 0.18 0.12 1/80 11206`, of which the number of tasks is wanted.

/** The number after the slash. */
export const parseTaskCount = (text: string): bigint | undefined => {
  const [, count] = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(text) ?? []
  return count === undefined ? undefined : BigInt(count)
}

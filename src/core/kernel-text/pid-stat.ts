// /proc/PID/stat, the fields that are asked for.

export interface PidStat {
  /** R, S, D, Z, ... */
  readonly state: string
  readonly parent: number
  readonly group: number
  /** Ticks after boot. Ids of processes come again; id and start together do not, until the next boot. */
  readonly startTicks: string
}

/** Undefined: cut off. The name in brackets may hold anything, so fields are counted from its end. */
export function parsePidStat(text: string): PidStat | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state = '', parent, group] = fields
  const startTicks = fields[19]
  return startTicks === undefined
    ? undefined
    : { state, parent: Number(parent), group: Number(group), startTicks }
}

// The values of one row of the table, as numbers for sorting. Undefined: unknown.
import type { LiveContainer, LivePod, LiveRequest, LiveValues } from '../core/dashboard/model.js'

export interface TopRow {
  /** A pod, or one container of it. */
  readonly pod: LivePod
  readonly container: LiveContainer | undefined
  /** The prefix of the name in the tree. */
  readonly branch: string
}

export const rowId = ({ pod, container }: TopRow): string => container?.id ?? pod.id

const valuesOf = ({ pod, container }: TopRow): LiveValues => (container ?? pod).values
const requestOf = ({ pod, container }: TopRow): LiveRequest => (container ?? pod).request

const amount = (text: string | null | undefined): number | undefined =>
  text === null || text === undefined || text === 'max' ? undefined : Number(text)

/** A pod without values is the sum of its containers. */
function sumOf(row: TopRow, one: (values: LiveValues) => number | undefined): number | undefined {
  const own = one(valuesOf(row))
  if (own !== undefined || row.container !== undefined) return own
  const parts = row.pod.containers.map((c) => one(c.values)).filter((n) => n !== undefined)
  return parts.length === 0 ? undefined : parts.reduce((sum, n) => sum + n, 0)
}

export const cpuMilli = (row: TopRow): number | undefined => sumOf(row, (f) => f.cpu?.milli ?? undefined)
export const workingSet = (row: TopRow): number | undefined => sumOf(row, (f) => amount(f.memory?.workingSet))
export const throttles = (row: TopRow): number | undefined =>
  valuesOf(row).memory?.throttlesPerSecond ?? undefined
export const cpuThrottled = (row: TopRow): number | undefined =>
  valuesOf(row).cpu?.throttledPercent ?? undefined

const percent = (part: number | undefined, whole: number | undefined): number | undefined =>
  part === undefined || whole === undefined || whole <= 0 ? undefined : (part * 100) / whole

export const cpuOfRequest = (row: TopRow): number | undefined =>
  percent(cpuMilli(row), requestOf(row).cpuMilli ?? undefined)
export const memoryOfRequest = (row: TopRow): number | undefined =>
  percent(workingSet(row), amount(requestOf(row).memory))
export const isEstimate = (row: TopRow): boolean => requestOf(row).from === 'oom_score_adj'

const ofThreshold =
  (threshold: 'high' | 'max') =>
  (row: TopRow): number | undefined => {
    const one = ({ memory }: LiveValues): number | undefined =>
      percent(amount(memory?.usage), amount(memory?.[threshold]))
    const own = one(valuesOf(row))
    if (own !== undefined || row.container !== undefined) return own
    // The pod itself has no such threshold: what counts is its container that is nearest to its own.
    const parts = row.pod.containers.map((c) => one(c.values)).filter((n) => n !== undefined)
    return parts.length === 0 ? undefined : Math.max(...parts)
  }
export const usageOfHigh = ofThreshold('high')
export const usageOfMax = ofThreshold('max')

export const received = ({ pod, container }: TopRow): number | undefined =>
  container === undefined ? pod.network?.rxPerSecond : undefined
export const sent = ({ pod, container }: TopRow): number | undefined =>
  container === undefined ? pod.network?.txPerSecond : undefined
export const reads = (row: TopRow): number | undefined => valuesOf(row).io?.readPerSecond
export const writes = (row: TopRow): number | undefined => valuesOf(row).io?.writePerSecond
export const pressure =
  (resource: 'cpu' | 'memory' | 'io') =>
  (row: TopRow): number | undefined =>
    valuesOf(row).pressure?.[resource]?.some

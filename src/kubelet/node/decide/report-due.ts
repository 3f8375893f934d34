// When a status is sent: at once when it changed, else at nodeStatusReportFrequency. After a change the next report is moved
// by chance, so that the nodes of a cluster that were changed together do not report together for ever.

export interface ReportState {
  /** Monotonic; undefined: nothing was sent yet. */
  readonly lastSentMs: number | undefined
  readonly delayMs: number
}

export const neverReported: ReportState = { lastSentMs: undefined, delayMs: 0 }

interface ReportQuestion {
  readonly state: ReportState
  readonly nowMs: number
  readonly changed: boolean
  readonly reportFrequencyMs: number
  /** 0 to 1 */
  readonly random: number
}

/** The state after sending; undefined: there is nothing to send. */
export function decideReport(q: ReportQuestion): ReportState | undefined {
  const { state, nowMs, changed, reportFrequencyMs, random } = q
  const isFirst = state.lastSentMs === undefined
  const isDue = isFirst || nowMs - (state.lastSentMs ?? 0) >= reportFrequencyMs + state.delayMs
  if (!changed && !isDue) return undefined
  return { lastSentMs: nowMs, delayMs: changed || isFirst ? reportFrequencyMs * (random - 0.5) : 0 }
}

// When the last graceful shutdown began and ended: kept in a file over the reboot, and shown as metrics.
import { rethrowBug } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Files } from '../../ports/files.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'

export interface ShutdownRecord {
  started(): Promise<void>
  ended(): Promise<void>
}

interface RecordOptions {
  readonly path: string
  readonly files: Pick<Files, 'read' | 'replace'>
  readonly metrics: Metrics
  readonly clock: Pick<Clock, 'nowNanos'>
  readonly log: Log
}

const maxBytes = 4096
/** What Go writes for no time. */
const never = '0001-01-01T00:00:00Z'

/** Shows what an earlier life of the kubelet has recorded. */
export async function openShutdownRecord({
  path,
  files,
  metrics,
  clock,
  log,
}: RecordOptions): Promise<ShutdownRecord> {
  const start = metrics.gauge(
    'kubelet_graceful_shutdown_start_time_seconds',
    'Last graceful shutdown start time since unix epoch in seconds',
  )
  const end = metrics.gauge(
    'kubelet_graceful_shutdown_end_time_seconds',
    'Last graceful shutdown end time since unix epoch in seconds',
  )
  const now = (): string => new Date(Number(clock.nowNanos() / 1_000_000n)).toISOString()
  const show = (startTime: string, endTime: string): void => {
    start.set(secondsOf(startTime))
    end.set(secondsOf(endTime))
  }
  const store = async (startTime: string, endTime: string): Promise<void> => {
    show(startTime, endTime)
    await files.replace(path, JSON.stringify({ startTime, endTime }), { mode: 0o644 }).catch((e: unknown) => {
      log.warn('failed to record the time of a shutdown', { error: rethrowBug(e) })
    })
  }
  const known = parseTimes(await files.read(path, maxBytes).catch(() => undefined))
  show(known.startTime, known.endTime)
  let startTime = known.startTime
  return {
    async started() {
      startTime = now()
      await store(startTime, never)
    },
    ended: () => store(startTime, now()),
  }
}

const secondsOf = (time: string): number => Math.max(0, Math.floor(Date.parse(time) / 1000) || 0)

/** A file that is no record counts as none. */
function parseTimes(bytes: Uint8Array | undefined): { readonly startTime: string; readonly endTime: string } {
  const none = { startTime: never, endTime: never }
  if (bytes === undefined) return none
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes))
    const { startTime, endTime } = parsed as Readonly<Record<string, unknown>>
    return typeof startTime === 'string' && typeof endTime === 'string' ? { startTime, endTime } : none
  } catch {
    return none
  }
}

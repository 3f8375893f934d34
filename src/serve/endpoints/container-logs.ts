// /containerLogs/{namespace}/{pod}/{container}: a container's output, with the query parameters of `kubectl logs`.
import { keelsonError } from '../../core/errors.js'
import { parseTime } from '../../core/units/rfc3339.js'
import type { Endpoint } from '../endpoint.js'
import { safeHeaders } from '../failures.js'

export interface LogRequest {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  /** Lines before this are left out. */
  readonly sinceNanos: bigint | undefined
  readonly tailLines: number | undefined
  readonly limitBytes: number | undefined
}

export type ReadLog = (request: LogRequest, signal: AbortSignal) => Promise<AsyncIterable<string>>

export const containerLogs = (read: ReadLog, nowMs: () => number = Date.now): Endpoint => ({
  name: 'containerLogs',
  path: '/containerLogs/{namespace}/{pod}/{container}',
  methods: ['GET'],
  longRunning: true,
  async handle(request, { params, query }) {
    // The lines come after the handler has returned, so they end with the client and not with the handler.
    const body = await read(parseLogRequest(params, query, nowMs()), request.signal)
    return { status: 200, headers: { ...safeHeaders, 'content-type': 'text/plain; charset=utf-8' }, body }
  },
})

function parseLogRequest(
  params: Readonly<Record<string, string>>,
  query: URLSearchParams,
  nowMs: number,
): LogRequest {
  const sinceSeconds = wholeNumber(query, 'sinceSeconds', 1)
  const sinceTime = query.get('sinceTime')
  const at = sinceTime === null ? undefined : parseTime(sinceTime)
  if (sinceTime !== null && at === undefined)
    throw keelsonError('request.invalid', `sinceTime=${sinceTime.slice(0, 80)}: not an RFC 3339 time`)
  if (at !== undefined && sinceSeconds !== undefined)
    throw keelsonError(
      'request.unprocessable',
      'at most one of `sinceTime` or `sinceSeconds` may be specified',
    )
  const stream = query.get('stream') ?? 'All'
  if (stream !== 'All')
    throw keelsonError(
      'request.invalid',
      `unable to return the given log stream: ${JSON.stringify(stream.slice(0, 80))}: PodLogsQuerySplitStreams is not supported`,
    )
  const since = sinceSeconds === undefined ? at : BigInt(Math.trunc(nowMs) - sinceSeconds * 1000) * 1_000_000n
  return {
    namespace: params['namespace'] ?? '',
    pod: params['pod'] ?? '',
    container: params['container'] ?? '',
    follow: flag(query, 'follow'),
    previous: flag(query, 'previous'),
    timestamps: flag(query, 'timestamps'),
    sinceNanos: since,
    tailLines: wholeNumber(query, 'tailLines', 0),
    limitBytes: wholeNumber(query, 'limitBytes', 1),
  }
}

function flag(query: URLSearchParams, key: string): boolean {
  const value = query.get(key)
  if (value === null || value === 'false' || value === '0') return false
  if (value === '' || value === 'true' || value === '1') return true
  throw keelsonError('request.invalid', `${key}=${value.slice(0, 80)}: use true or false`)
}

function wholeNumber(query: URLSearchParams, key: string, least: number): number | undefined {
  const value = query.get(key)
  if (value === null || value === '') return undefined
  if (!/^-?\d{1,15}$/.test(value))
    throw keelsonError('request.invalid', `${key}=${value.slice(0, 80)}: use a whole number`)
  if (Number(value) < least)
    throw keelsonError('request.unprocessable', `${key}: must be greater than or equal to ${least}`)
  return Number(value)
}

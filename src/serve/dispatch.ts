// Carries an admitted request to its endpoint, inside the limits of number, time and body size.
import { asKeelsonError, keelsonError } from '../core/errors.js'
import type { Clock } from '../ports/clock.js'
import type { HttpAnswer, HttpRequest } from '../ports/http.js'
import type { User } from './authn/authenticator.js'
import { withDeadline } from './deadline.js'
import { allowedMethods, type Match, takesMethod } from './endpoint.js'
import { errorAnswer, failure } from './failures.js'
import type { RequestLimits } from './settings.js'
import type { Target } from './target.js'

interface Admitted {
  readonly request: HttpRequest
  readonly target: Target
  readonly match: Match | undefined
  readonly user: User
}

export type Dispatch = (call: Admitted) => Promise<HttpAnswer>

/** Gone as a group when debugging handlers are off; also where no endpoint of ours would answer. */
const debuggingPaths = new Set([
  'run',
  'exec',
  'attach',
  'portForward',
  'containerLogs',
  'runningpods',
  'logs',
  'debug',
])

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** No limit is asked for with 0; a timer cannot run longer than 2^31 ms, and would fire at once otherwise. */
const timerMs = (ms: number): number => (ms <= 0 ? longestTimerMs : Math.min(ms, longestTimerMs))
const longestTimerMs = 2 ** 31 - 5000

interface DispatchOptions {
  readonly clock: Clock
  readonly limits: RequestLimits
  readonly enableDebuggingHandlers: boolean
}

export function createDispatch({ clock, limits, enableDebuggingHandlers }: DispatchOptions): Dispatch {
  const underWay = { short: 0, long: 0 }

  async function run({ request, target, user }: Admitted, { endpoint, params }: Match): Promise<HttpAnswer> {
    const defaultMs = endpoint.longRunning === true ? limits.longRunningTimeoutMs : limits.requestTimeoutMs
    const timeoutMs = timerMs(endpoint.timeoutMs ?? defaultMs)
    request.admit(timeoutMs)
    const maxBodyBytes = endpoint.maxBodyBytes ?? limits.maxBodyBytes
    return withDeadline(
      clock,
      timeoutMs,
      () => keelsonError('request.timeout', `no response from ${endpoint.name} within ${timeoutMs} ms`),
      async (signal) =>
        endpoint.handle(request, {
          params,
          query: target.query,
          user,
          signal,
          readBody: () => readAll(request.body(maxBodyBytes)),
        }),
      request.signal,
    )
  }

  return async (call) => {
    const { request, target, match } = call
    if (!enableDebuggingHandlers && debuggingPaths.has(target.segments[0] ?? ''))
      return failure(request, 405, 'Debug endpoints are disabled.')
    if (match === undefined) return failure(request, 404, '404 page not found')
    const { endpoint } = match
    if (!takesMethod(endpoint, request.method))
      return failure(request, 405, 'Method Not Allowed', { headers: { allow: allowedMethods(endpoint) } })
    const kind = endpoint.longRunning === true ? 'long' : 'short'
    if (underWay[kind] >= (kind === 'long' ? limits.maxLongRunning : limits.maxRequests))
      return failure(request, 503, 'Too many requests', { headers: { 'retry-after': '1' } })
    underWay[kind]++
    void request.finished.then(() => underWay[kind]--)
    try {
      return await run(call, match)
    } catch (e) {
      return errorAnswer(request, asKeelsonError(e))
    }
  }
}

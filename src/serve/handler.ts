// One request from first to last: plain target, guard, dispatch; then the access log and the request metrics.
import { asKeelsonError } from '../core/errors.js'
import type { Clock } from '../ports/clock.js'
import type { HttpAnswer, HttpHandler, HttpRequest } from '../ports/http.js'
import type { Log } from '../ports/log.js'
import type { User } from './authn/authenticator.js'
import type { Dispatch } from './dispatch.js'
import { type Match, type Router, takesMethod } from './endpoint.js'
import { errorAnswer, failure } from './failures.js'
import type { Guard } from './guard.js'
import type { RequestMetrics, ServerType } from './request-metrics.js'
import { type ParsedTarget, parseTarget } from './target.js'

interface HandlerOptions {
  readonly serverType: ServerType
  readonly router: Router
  readonly guard: Guard
  readonly dispatch: Dispatch
  readonly metrics: RequestMetrics
  readonly log: Log
  readonly clock: Clock
}

interface Outcome {
  readonly answer: HttpAnswer
  readonly user?: User
  readonly reason?: string
}

/** A second value of these is how two readers of one request come to differ. */
const once = ['host', 'authorization', 'content-length', 'transfer-encoding', 'upgrade', 'origin']

const badRequest = (request: HttpRequest, reason: string): Outcome => ({
  answer: failure(request, 400, `Bad Request: ${reason}`, { close: true }),
  reason,
})

async function answer(
  request: HttpRequest,
  parsed: ParsedTarget,
  match: Match | undefined,
  o: HandlerOptions,
): Promise<Outcome> {
  if (parsed.kind === 'bad') return badRequest(request, parsed.reason)
  const twice = once.find((name) => (request.headers.get(name) ?? []).length > 1)
  if (twice !== undefined) return badRequest(request, `more than one ${twice} header`)
  const { target } = parsed
  const open = match?.endpoint.open === true && takesMethod(match.endpoint, request.method)
  const passage = await o.guard(request, target, open)
  if (passage.kind === 'refuse') return { ...passage, answer: passage.response }
  return { answer: await o.dispatch({ request, target, match, ...passage }), user: passage.user }
}

/** The path without its query: commands, tickets and tokens travel there. */
const loggedPath = (target: string): string => target.split('?', 1)[0]?.slice(0, 256) ?? ''

export function createHandler(o: HandlerOptions): HttpHandler {
  return async (request) => {
    const started = o.clock.monotonicNanos()
    const parsed = parseTarget(request.target)
    const match = parsed.kind === 'bad' ? undefined : o.router(parsed.target.segments, request.method)
    const end = o.metrics.begin({
      method: request.method,
      endpoint: match?.endpoint,
      serverType: o.serverType,
    })
    const seen: { outcome?: Outcome } = {}
    void request.finished.then(() => {
      const seconds = Number(o.clock.monotonicNanos() - started) / 1e9
      end(seconds)
      logAccess(request, seen.outcome, seconds)
    })
    try {
      seen.outcome = await answer(request, parsed, match, o)
    } catch (e) {
      const error = asKeelsonError(e)
      o.log.error('request failed', { error })
      seen.outcome = { answer: errorAnswer(request, error), reason: error.message }
    }
    return seen.outcome.answer
  }

  function logAccess(request: HttpRequest, outcome: Outcome | undefined, seconds: number): void {
    const sent = outcome?.answer
    const status = sent === undefined ? 0 : 'status' in sent ? sent.status : 101
    const fields = {
      server: o.serverType,
      method: request.method.slice(0, 32),
      path: loggedPath(request.target),
      status,
      seconds,
      peer: request.peer.address,
      ...(outcome?.user === undefined ? {} : { user: outcome.user.name, by: outcome.user.by }),
      ...(outcome?.reason === undefined ? {} : { reason: outcome.reason }),
    }
    const running = request.method !== 'GET' && request.method !== 'HEAD' && status < 400
    if (running || status === 101 || status >= 500) o.log.info('request', fields)
    else o.log.debug('request', fields)
  }
}

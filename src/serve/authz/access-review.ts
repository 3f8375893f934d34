// Rights, asked from the API server one subresource after the other. Answers are kept: yes for minutes, no for seconds.
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { AccessVerdict, KubeCalls } from '../../ports/kube-calls.js'
import type { User } from '../authn/authenticator.js'
import { reviewBackoff, withDeadline, withRetries } from '../deadline.js'
import { createExpiringCache } from '../expiring-cache.js'
import { type Authorizer, allowed } from './authorizer.js'

interface AccessReviewOptions {
  readonly api: Pick<KubeCalls, 'reviewAccess'>
  readonly clock: Clock
  readonly random: () => number
  readonly nodeName: string
  readonly allowTtlMs: number
  readonly denyTtlMs: number
  readonly timeoutMs: number
  /** Requests waiting for an answer at once; one more fails unasked. */
  readonly maxWaiting: number
}

const cacheEntries = 4096

/** Two users are the same to the cache only if every part the API server decides by is the same. */
const cacheKey = ({ name, uid, groups, extra }: User, verb: string, subresource: string): string =>
  JSON.stringify([name, uid ?? '', groups, Object.entries(extra).sort(), verb, subresource])

export function accessReview(o: AccessReviewOptions): Authorizer {
  const granted = createExpiringCache<AccessVerdict>(o.clock, cacheEntries)
  const denied = createExpiringCache<AccessVerdict>(o.clock, cacheEntries)
  const underWay = new Map<string, Promise<AccessVerdict>>()
  let waiting = 0

  const ask = (key: string, user: User, verb: string, subresource: string): Promise<AccessVerdict> => {
    const question = { user, verb, resource: 'nodes', subresource, name: o.nodeName }
    const answer = withDeadline(
      o.clock,
      o.timeoutMs,
      () => keelsonError('kubeapi.failed', `SubjectAccessReview: no response within ${o.timeoutMs} ms`),
      (signal) =>
        withRetries(o.clock, o.random, reviewBackoff, signal, () => o.api.reviewAccess(question, signal)),
    )
      .then((verdict) => {
        if (verdict.allowed) granted.set(key, verdict, o.allowTtlMs)
        else denied.set(key, verdict, o.denyTtlMs)
        return verdict
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, answer)
    return answer
  }

  const wait = async (key: string, start: () => Promise<AccessVerdict>): Promise<AccessVerdict> => {
    if (waiting >= o.maxWaiting)
      throw keelsonError('kubeapi.failed', 'too many requests are waiting for an access review')
    waiting++
    try {
      return await (underWay.get(key) ?? start())
    } finally {
      waiting--
    }
  }

  return {
    name: 'Webhook',
    async authorize(user, { verb, subresources }) {
      let reason = ''
      for (const subresource of subresources) {
        const key = cacheKey(user, verb, subresource)
        try {
          const verdict =
            granted.get(key) ?? denied.get(key) ?? (await wait(key, () => ask(key, user, verb, subresource)))
          if (verdict.allowed) return allowed
          reason = verdict.reason ?? reason
        } catch (e) {
          return { kind: 'failed', reason: asKeelsonError(e).message }
        }
      }
      return { kind: 'denied', reason }
    },
  }
}

// Bearer tokens, checked by the API server. Answers of both kinds are kept for a while under a digest of the token;
// a failure to ask is not kept. Callers with the same token share one question.
import { fail } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi, ReviewedUser } from '../../ports/kubeapi.js'
import type { Secrets } from '../../ports/secrets.js'
import { reviewBackoff, withDeadline, withRetries } from '../deadline.js'
import { createExpiringCache } from '../expiring-cache.js'
import { type Authenticator, absent, knownUser, refused } from './authenticator.js'

export interface TokenReviewOptions {
  readonly api: Pick<KubeApi, 'reviewToken'>
  readonly clock: Clock
  readonly secrets: Pick<Secrets, 'digest'>
  readonly random: () => number
  readonly cacheTtlMs: number
  /** All attempts together. */
  readonly timeoutMs: number
  /** Requests waiting for an answer at once; one more is refused unasked. Kept answers need no wait. */
  readonly maxWaiting: number
}

const cacheEntries = 4096

export function tokenReview(o: TokenReviewOptions): Authenticator {
  // Two caches, so that a flood of made-up tokens cannot push out the real ones.
  const known = createExpiringCache<ReviewedUser>(o.clock, cacheEntries)
  const unknown = createExpiringCache<true>(o.clock, cacheEntries)
  const underWay = new Map<string, Promise<ReviewedUser | undefined>>()
  let waiting = 0

  const review = (token: string): Promise<ReviewedUser | undefined> =>
    withDeadline(
      o.clock,
      o.timeoutMs,
      () => fail('kubeapi.failed', `TokenReview did not answer within ${o.timeoutMs} ms`),
      (signal) =>
        withRetries(o.clock, o.random, reviewBackoff, signal, () => o.api.reviewToken(token, signal)),
    )

  const ask = (key: string, token: string): Promise<ReviewedUser | undefined> => {
    const question = review(token)
      .then((user) => {
        if (user === undefined) unknown.set(key, true, o.cacheTtlMs)
        else known.set(key, user, o.cacheTtlMs)
        return user
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, question)
    return question
  }

  return {
    name: 'token-review',
    async authenticate({ bearer }) {
      if (bearer === undefined) return absent
      const key = o.secrets.digest(bearer)
      const kept = known.get(key)
      if (kept !== undefined) return knownUser('token-review', kept)
      if (unknown.get(key) !== undefined) return refused('the API server does not know the token')
      if (waiting >= o.maxWaiting) return refused('too many requests are waiting for a token review')
      waiting++
      try {
        const user = await (underWay.get(key) ?? ask(key, bearer))
        if (user === undefined) return refused('the API server does not know the token')
        return knownUser('token-review', user)
      } finally {
        waiting--
      }
    },
  }
}

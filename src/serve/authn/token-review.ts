// Bearer tokens, checked by the API server. Answers of both kinds are kept for a while under a digest of the token;
// a failure to ask is not kept. Callers with the same token share one question, which ends when none of them waits any more.
import { keelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeCalls, ReviewedUser } from '../../ports/kube-calls.js'
import type { Secrets } from '../../ports/secrets.js'
import { reviewBackoff, withDeadline, withRetries } from '../deadline.js'
import { createExpiringCache } from '../expiring-cache.js'
import { createWaitingRoom } from '../waiting-room.js'
import { type Authenticator, absent, knownUser, refused } from './authenticator.js'

interface TokenReviewOptions {
  readonly api: Pick<KubeCalls, 'reviewToken'>
  readonly clock: Clock
  readonly secrets: Pick<Secrets, 'digest'>
  readonly random: () => number
  readonly cacheTtlMs: number
  /** All attempts together. */
  readonly timeoutMs: number
  /** Requests of unknown tokens that wait at once; one more takes the place of another, see waiting-room.ts. */
  readonly maxWaiting: number
}

const cacheEntries = 4096
/** How long a token that was known once is asked about without a place among the unknown ones. */
const metTtlMs = 3_600_000

interface Question {
  readonly answer: Promise<ReviewedUser | undefined>
  readonly stop: AbortController
  waiting: number
}

const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })

export function tokenReview(o: TokenReviewOptions): Authenticator {
  // Two caches, so that a flood of made-up tokens cannot push out the real ones.
  const known = createExpiringCache<ReviewedUser>(o.clock, cacheEntries)
  const unknown = createExpiringCache<true>(o.clock, cacheEntries)
  // Scrapers come again for days, each time with a review of the API server: no crowd of unknown tokens keeps them out.
  const met = createExpiringCache<true>(o.clock, cacheEntries)
  const underWay = new Map<string, Question>()
  const room = createWaitingRoom(o.maxWaiting, () =>
    keelsonError('kubeapi.failed', 'too many requests are waiting for a token review'),
  )

  const review = (token: string, stop: AbortSignal): Promise<ReviewedUser | undefined> =>
    withDeadline(
      o.clock,
      o.timeoutMs,
      () => keelsonError('kubeapi.failed', `TokenReview: no response within ${o.timeoutMs} ms`),
      (signal) =>
        withRetries(o.clock, o.random, reviewBackoff, signal, () => o.api.reviewToken(token, signal)),
      stop,
    )

  const ask = (key: string, token: string): Question => {
    const stop = new AbortController()
    const answer = review(token, stop.signal).then((user) => {
      if (user === undefined) unknown.set(key, true, o.cacheTtlMs)
      else {
        known.set(key, user, o.cacheTtlMs)
        met.set(key, true, metTtlMs)
      }
      return user
    })
    const question: Question = { answer, stop, waiting: 0 }
    underWay.set(key, question)
    return question
  }

  const wait = async (key: string, token: string, signal: AbortSignal): Promise<ReviewedUser | undefined> => {
    const question = underWay.get(key) ?? ask(key, token)
    question.waiting++
    try {
      return await untilAborted(question.answer, signal)
    } finally {
      question.waiting--
      if (question.waiting === 0) {
        if (underWay.get(key) === question) underWay.delete(key)
        question.stop.abort(new Error('all waiting requests ended'))
      }
    }
  }

  return {
    name: 'token-review',
    async authenticate({ address = '', bearer }, signal) {
      if (bearer === undefined) return absent
      const key = o.secrets.digest(bearer)
      const kept = known.get(key)
      if (kept !== undefined) return knownUser('token-review', kept)
      if (unknown.get(key) !== undefined) return refused('the API server does not know the token')
      const place = met.get(key) === undefined ? room.enter(address) : undefined
      const ends = place === undefined ? signal : AbortSignal.any([signal, place.taken])
      try {
        const user = await wait(key, bearer, ends)
        if (user === undefined) return refused('the API server does not know the token')
        return knownUser('token-review', user)
      } finally {
        place?.leave()
      }
    },
  }
}

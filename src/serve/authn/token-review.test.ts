import { describe, expect, test } from 'vitest'
import { fail } from '../../core/errors.js'
import { FakeClock } from '../../fakes/clock.js'
import type { ReviewedUser } from '../../ports/kubeapi.js'
import { tokenReview } from './token-review.js'

type Answer = ReviewedUser | undefined | Error | 'never'

function setUp(answers: (token: string) => Answer, more: { maxWaiting?: number } = {}) {
  const clock = new FakeClock()
  const asked: string[] = []
  const authenticator = tokenReview({
    api: {
      reviewToken(token, signal) {
        asked.push(token)
        const answer = answers(token)
        if (answer === 'never')
          return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
      },
    },
    clock,
    secrets: { digest: (s) => `digest of ${s}` },
    random: () => 1,
    cacheTtlMs: 120_000,
    timeoutMs: 10_000,
    maxWaiting: more.maxWaiting ?? 10,
  })
  const authenticate = async (bearer: string) =>
    authenticator.authenticate({ bearer }, new AbortController().signal)
  return { clock, asked, authenticate }
}

const ada = { name: 'ada', uid: '1', groups: ['people'], extra: { scope: ['all'] } }
const passing = fail('kubeapi.failed', 'busy', { retryable: true })
const lasting = fail('kubeapi.failed', 'refused', { retryable: false })

describe('tokenReview', () => {
  test('a known token: its user, also in system:authenticated', async () => {
    const { authenticate } = setUp(() => ada)
    expect(await authenticate('t')).toEqual({
      kind: 'user',
      user: { ...ada, by: 'token-review', groups: ['people', 'system:authenticated'] },
    })
  })

  test('yes and no are kept for two minutes, each token for itself', async () => {
    const { asked, authenticate, clock } = setUp((t) => (t === 'good' ? ada : undefined))
    for (let i = 0; i < 3; i++) {
      expect((await authenticate('good')).kind).toBe('user')
      expect((await authenticate('bad')).kind).toBe('refused')
    }
    expect(asked).toEqual(['good', 'bad'])
    await clock.advance(119_999)
    await authenticate('good')
    expect(asked).toHaveLength(2)
    await clock.advance(2)
    await authenticate('good')
    await authenticate('bad')
    expect(asked).toEqual(['good', 'bad', 'good', 'bad'])
  })

  test('requests with the same token share one question', async () => {
    const { asked, authenticate } = setUp(() => ada)
    await Promise.all([authenticate('t'), authenticate('t'), authenticate('t')])
    expect(asked).toHaveLength(1)
  })

  test('a passing failure is asked again after 500 ms x 1.5, five times in all, with jitter', async () => {
    const { asked, authenticate, clock } = setUp(() => passing)
    const answer = authenticate('t').catch((e: Error) => e.message)
    const waits: number[] = []
    await clock.advance(0)
    for (const wait of [600, 900, 1350, 2025]) {
      await clock.advance(wait - 1)
      const before = asked.length
      await clock.advance(1)
      if (asked.length === before + 1) waits.push(wait)
    }
    expect(waits).toEqual([600, 900, 1350, 2025])
    expect(await answer).toBe('busy')
    expect(asked).toHaveLength(5)
  })

  test('a lasting failure is not asked again and not kept', async () => {
    let answer: Answer = lasting
    const { asked, authenticate } = setUp(() => answer)
    await expect(authenticate('t')).rejects.toThrow('refused')
    expect(asked).toHaveLength(1)
    answer = ada
    expect((await authenticate('t')).kind).toBe('user')
  })

  test('no answer at all ends after ten seconds', async () => {
    const { authenticate, clock } = setUp(() => 'never')
    const answer = authenticate('t').catch((e: Error) => e.message)
    await clock.advance(10_000)
    expect(await answer).toBe('TokenReview did not answer within 10000 ms')
  })

  test('a crowd of strangers neither waits without bound nor stands in the way of a kept answer', async () => {
    const { asked, authenticate, clock } = setUp((t) => (t === 'good' ? ada : 'never'), { maxWaiting: 2 })
    await authenticate('good')
    const crowd = ['a', 'b'].map((t) => authenticate(t).catch(() => 'late'))
    expect(await authenticate('c')).toEqual({
      kind: 'refused',
      reason: 'too many requests are waiting for a token review',
    })
    expect((await authenticate('good')).kind).toBe('user')
    expect(asked).toEqual(['good', 'a', 'b'])
    await clock.advance(10_000)
    expect(await Promise.all(crowd)).toEqual(['late', 'late'])
    expect((await authenticate('good')).kind).toBe('user')
  })
})

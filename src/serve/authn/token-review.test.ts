import { describe, expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import { FakeClock } from '../../fakes/clock.js'
import type { ReviewedUser } from '../../ports/kube-calls.js'
import { tokenReview } from './token-review.js'

type Answer = ReviewedUser | undefined | Error | 'never'

function setUp(answers: (token: string) => Answer, more: { maxWaiting?: number } = {}) {
  const clock = new FakeClock()
  const asked: string[] = []
  const ended: string[] = []
  const authenticator = tokenReview({
    api: {
      reviewToken(token, signal) {
        asked.push(token)
        const answer = answers(token)
        if (answer === 'never')
          return new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
              ended.push(token)
              reject(signal.reason)
            }),
          )
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
  const authenticate = async (
    bearer: string,
    address = '10.0.0.1',
    signal: AbortSignal = new AbortController().signal,
  ) => authenticator.authenticate({ bearer, address }, signal)
  return { clock, asked, ended, authenticate }
}

const ada = { name: 'ada', uid: '1', groups: ['people'], extra: { scope: ['all'] } }
const passing = keelsonError('kubeapi.failed', 'busy', { retryable: true })
const lasting = keelsonError('kubeapi.failed', 'refused', { retryable: false })

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
    expect(await answer).toBe('TokenReview: no response within 10000 ms')
  })

  test('a crowd of made-up tokens does not refuse a valid one while the API server is slow', async () => {
    const { asked, ended, authenticate, clock } = setUp((t) => (t === 'good' ? ada : 'never'), {
      maxWaiting: 3,
    })
    const full = 'too many requests are waiting for a token review'
    const outcomes: string[] = []
    const stranger = (token: string, address: string) =>
      authenticate(token, address).catch((e: Error) => outcomes.push(`${token}: ${e.message}`))
    const crowd = [stranger('a', '10.0.0.1'), stranger('b', '10.0.0.1'), stranger('c', '10.0.0.2')]
    await clock.advance(0)
    expect((await authenticate('good', '10.0.0.3')).kind).toBe('user')
    // The address with the most places lost its oldest, and the API server is not asked for it any more.
    expect(outcomes).toEqual([`a: ${full}`])
    expect(ended).toEqual(['a'])
    crowd.push(stranger('d', '10.0.0.1'), stranger('e', '10.0.0.1'), stranger('f', '10.0.0.1'))
    await clock.advance(0)
    expect(outcomes).toEqual([`a: ${full}`, `b: ${full}`, `d: ${full}`])
    await clock.advance(10_000)
    await Promise.all(crowd)
    expect(outcomes.slice(3).map((o) => o.slice(0, 12))).toEqual([
      'c: TokenRevi',
      'e: TokenRevi',
      'f: TokenRevi',
    ])
    expect(asked).toEqual(['a', 'b', 'c', 'good', 'd', 'e', 'f'])
  })

  test('a token that was known before keeps its place, whatever the crowd', async () => {
    const state = { slow: false }
    const { authenticate, clock, ended } = setUp(() => (state.slow ? 'never' : ada), { maxWaiting: 2 })
    await authenticate('scraper')
    await clock.advance(120_001)
    state.slow = true
    const again = authenticate('scraper').catch((e: Error) => e.message)
    const crowd = ['a', 'b', 'c', 'd'].map((t) => authenticate(t).catch((e: Error) => e.message))
    await clock.advance(0)
    expect(ended).toEqual(['a', 'b'])
    await clock.advance(10_000)
    expect(await again).toBe('TokenReview: no response within 10000 ms')
    await Promise.all(crowd)
  })

  test('a caller who has gone does not keep a place or a question', async () => {
    const { authenticate, clock, ended } = setUp(() => 'never')
    const [first, second] = [new AbortController(), new AbortController()]
    const waits = [first, second].map(({ signal }) => authenticate('t', '', signal).catch(() => 'gone'))
    await clock.advance(0)
    first.abort()
    await clock.advance(0)
    expect(ended).toEqual([])
    second.abort()
    expect(await Promise.all(waits)).toEqual(['gone', 'gone'])
    await expect.poll(() => ended).toEqual(['t'])
  })
})

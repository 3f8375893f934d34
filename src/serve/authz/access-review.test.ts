import { describe, expect, test } from 'vitest'
import { keelsonError } from '../../core/errors.js'
import { FakeClock } from '../../fakes/clock.js'
import type { AccessQuestion, AccessVerdict } from '../../ports/kube-calls.js'
import type { User } from '../authn/authenticator.js'
import { accessReview } from './access-review.js'

function setUp(answer: (q: AccessQuestion) => AccessVerdict | Error) {
  const clock = new FakeClock()
  const asked: string[] = []
  const authorizer = accessReview({
    api: {
      reviewAccess(q) {
        asked.push(`${q.user.name} ${q.verb} ${q.resource}/${q.subresource} of ${q.name}`)
        const said = answer(q)
        return said instanceof Error ? Promise.reject(said) : Promise.resolve(said)
      },
    },
    clock,
    random: () => 0,
    nodeName: 'n1',
    allowTtlMs: 300_000,
    denyTtlMs: 30_000,
    timeoutMs: 10_000,
    maxWaiting: 10,
  })
  const may = async (user: User, verb: string, ...subresources: string[]) =>
    (await authorizer.authorize(user, { verb, subresources }, new AbortController().signal)).kind
  return { clock, asked, may }
}

const ada: User = { name: 'ada', groups: ['people'], extra: {}, by: 'x509' }

describe('accessReview', () => {
  test('the first subresource that is allowed is enough; the next is asked only after a no', async () => {
    const { asked, may } = setUp((q) => ({ allowed: q.subresource === 'proxy' }))
    expect(await may(ada, 'get', 'pods', 'proxy')).toBe('allowed')
    expect(asked).toEqual(['ada get nodes/pods of n1', 'ada get nodes/proxy of n1'])
    const other = setUp(() => ({ allowed: true }))
    expect(await other.may(ada, 'get', 'pods', 'proxy')).toBe('allowed')
    expect(other.asked).toEqual(['ada get nodes/pods of n1'])
  })

  test('yes is kept for five minutes, no for thirty seconds', async () => {
    const { asked, clock, may } = setUp((q) => ({ allowed: q.verb === 'get' }))
    await may(ada, 'get', 'stats')
    await may(ada, 'create', 'stats')
    await clock.advance(29_999)
    await may(ada, 'create', 'stats')
    expect(asked).toHaveLength(2)
    await clock.advance(2)
    await may(ada, 'create', 'stats')
    await may(ada, 'get', 'stats')
    expect(asked).toHaveLength(3)
    await clock.advance(270_000)
    await may(ada, 'get', 'stats')
    expect(asked).toHaveLength(4)
  })

  test('an answer is kept for exactly this user: groups, uid and extra count', async () => {
    const { asked, may } = setUp((q) => ({ allowed: q.user.groups.includes('people') }))
    expect(await may(ada, 'get', 'stats')).toBe('allowed')
    expect(await may({ ...ada, groups: ['others'] }, 'get', 'stats')).toBe('denied')
    await may({ ...ada, uid: '7' }, 'get', 'stats')
    await may({ ...ada, extra: { scope: ['x'] } }, 'get', 'stats')
    expect(asked).toHaveLength(4)
  })

  test('a failure is a failure, is not kept, and hides no earlier yes', async () => {
    let broken = true
    const { may } = setUp(() =>
      broken ? keelsonError('kubeapi.failed', 'away', { retryable: false }) : { allowed: true },
    )
    expect(await may(ada, 'get', 'stats')).toBe('failed')
    broken = false
    expect(await may(ada, 'get', 'stats')).toBe('allowed')
    broken = true
    expect(await may(ada, 'get', 'stats')).toBe('allowed')
    expect(await may(ada, 'get', 'pods')).toBe('failed')
  })
})

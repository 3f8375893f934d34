import { expect, test } from 'vitest'
import { isImageReference } from '../../../core/pod/spec/image-reference.js'
import { decideImage, type ImageInput, pullFailed } from './image-pull.js'

const now = 1_000_000_000_000n
const base: ImageInput = {
  image: 'a/b:1',
  policy: 'IfNotPresent',
  present: true,
  backoff: undefined,
  nowNanos: now,
}
const shortly = {
  delayNanos: 10_000_000_000n,
  updatedAtNanos: now - 5_000_000_000n,
  error: 'ErrImagePull: no route',
}

for (const { name, input, kind, reason } of [
  { name: 'there, IfNotPresent', input: {}, kind: 'use' },
  { name: 'missing, IfNotPresent', input: { present: false }, kind: 'pull' },
  { name: 'there, Always', input: { policy: 'Always' }, kind: 'pull' },
  { name: 'there, Never', input: { policy: 'Never' }, kind: 'use' },
  {
    name: 'missing, Never',
    input: { policy: 'Never', present: false },
    kind: 'hold',
    reason: 'ErrImageNeverPull',
  },
  { name: 'no name', input: { image: 'A B' }, kind: 'hold', reason: 'InvalidImageName' },
  {
    name: 'failed 5 s ago',
    input: { present: false, backoff: shortly },
    kind: 'hold',
    reason: 'ImagePullBackOff',
  },
  { name: 'failed 5 s ago, but there', input: { backoff: shortly }, kind: 'use' },
  {
    name: 'failed long ago',
    input: { present: false, backoff: { ...shortly, updatedAtNanos: now - 10_000_000_000n } },
    kind: 'pull',
  },
] as const)
  test(`image ${name}: ${kind}`, () => {
    const step = decideImage({ ...base, ...input })
    expect(step.kind).toBe(kind)
    if (step.kind === 'hold') expect(step.hold.reason).toBe(reason)
  })

test('failed pulls wait 10, 20, 40 s, and show the error first', () => {
  const first = pullFailed(undefined, 'no route', now)
  expect(first.hold).toMatchObject({ reason: 'ErrImagePull', message: 'no route' })
  const second = pullFailed(first.backoff, 'no route', now + 10_000_000_000n)
  const third = pullFailed(second.backoff, 'no route', now + 30_000_000_000n)
  expect([first, second, third].map((p) => p.backoff.delayNanos / 1_000_000_000n)).toEqual([10n, 20n, 40n])
})

for (const [name, good] of [
  ['busybox', true],
  ['registry.k8s.io/pause:3.9', true],
  ['localhost:5000/a/b_c:x-1', true],
  [`a@sha256:${'0'.repeat(64)}`, true],
  ['[::1]:5000/a', true],
  ['', false],
  ['Upper/case', true],
  ['UPPER', false],
  ['a b', false],
  ['a:', false],
  ['/a', false],
  ['a//b', false],
  ['a@sha256:12', false],
  ['a'.repeat(5000), false],
] as const)
  test(`image name ${name.slice(0, 40)}: ${good}`, () => expect(isImageReference(name)).toBe(good))

test('the messages are those of upstream', () => {
  const message = (input: Partial<ImageInput>): string | undefined => {
    const step = decideImage({ ...base, present: false, ...input })
    return step.kind === 'hold' ? step.hold.message : undefined
  }
  expect(message({ backoff: shortly })).toBe('Back-off pulling image "a/b:1": ErrImagePull: no route')
  expect(message({ policy: 'Never' })).toBe(
    'Container image "a/b:1" is not present with pull policy of Never',
  )
  expect(message({ image: 'A B' })).toBe(
    'Failed to apply default image tag "A B": couldn\'t parse image name "A B": invalid reference format',
  )
})

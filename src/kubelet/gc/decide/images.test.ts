import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assertProperty } from '../../../../test/support/property.js'
import {
  type ImageRecords,
  imagesForSpace,
  imagesPastAge,
  notEnoughFreed,
  recordImages,
  spaceNeeded,
} from './images.js'

const policy = { highPercent: 85, lowPercent: 80, minimumAgeMs: 120_000, maximumAgeMs: 0 }
const second = 1_000_000_000n
const seen = (...ids: string[]) => ids.map((id) => ({ id, sizeBytes: 10n, pinned: id.startsWith('pinned') }))
const ids = (images: readonly { readonly id: string }[]): string[] => images.map(({ id }) => id)
const none = new Set<string>()

test('the longest unused image goes first; pinned ones, those in use and new ones stay', () => {
  let records: ImageRecords = new Map()
  records = recordImages(records, seen('never', 'early', 'late', 'pinned', 'used'), none, 0n)
  records = recordImages(
    records,
    seen('never', 'early', 'late', 'pinned', 'used'),
    new Set(['early']),
    10n * second,
  )
  records = recordImages(
    records,
    seen('never', 'early', 'late', 'pinned', 'used'),
    new Set(['late']),
    20n * second,
  )
  const inUse = new Set(['used'])
  records = recordImages(
    records,
    seen('never', 'early', 'late', 'pinned', 'used', 'new'),
    inUse,
    200n * second,
  )
  expect(ids(imagesForSpace(records, inUse, policy, 200n * second))).toEqual(['never', 'early', 'late'])
  expect(ids(imagesForSpace(records, inUse, policy, 400n * second))).toEqual([
    'never',
    'new',
    'early',
    'late',
  ])
})

test('imageMaximumGCAge counts from the last use, and not before the kubelet itself is so old', () => {
  const aged = { ...policy, maximumAgeMs: 60_000 }
  let records = recordImages(new Map(), seen('a', 'b', 'pinned'), new Set(['a']), 50n * second)
  const at = (now: bigint, began: bigint) =>
    ids(imagesPastAge(records, none, aged, { nowNanos: now * second, beganNanos: began * second }))
  expect(at(60n, 0n)).toEqual([])
  expect(at(61n, 0n)).toEqual(['b'])
  expect(at(111n, 0n)).toEqual(['b', 'a'])
  records = recordImages(records, seen('a'), none, 111n * second)
  expect(at(112n, 0n)).toEqual(['a'])
})

test('how much is to be freed: nothing below the high threshold, else down to the low one', () => {
  const at = (available: bigint) => spaceNeeded({ capacityBytes: 1000n, availableBytes: available }, policy)
  expect(at(160n)).toBeUndefined()
  expect(at(159n)).toEqual({ usedPercent: 85, bytes: 41n })
  expect(at(150n)).toEqual({ usedPercent: 85, bytes: 50n })
  expect(at(0n)).toEqual({ usedPercent: 100, bytes: 200n })
  expect(at(5000n)).toBeUndefined()
})

test('the words of FreeDiskSpaceFailed are those that people search for', () => {
  expect(notEnoughFreed(91, 20_971_520_000n, 1234n)).toBe(
    "Insufficient free disk space on the node's image filesystem (91% of 19.5 GiB used). Failed to free sufficient space by deleting unused images (freed 1234 bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
  )
  expect(notEnoughFreed(91, 5n, 0n)).toContain('(91% of 5 B used)')
})

test('an image in use or pinned is never among those to remove, whatever the history', () => {
  const image = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), pinned: fc.boolean() })
  const look = fc.record({
    images: fc.array(image),
    used: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e')),
  })
  assertProperty(
    fc.property(fc.array(look, { minLength: 1, maxLength: 6 }), (looks) => {
      let records: ImageRecords = new Map()
      let now = 0n
      for (const { images, used } of looks) {
        now += 100n * second
        const inUse = new Set<string>(used)
        records = recordImages(
          records,
          images.map((i) => ({ ...i, sizeBytes: 1n })),
          inUse,
          now,
        )
        const last = new Map<string, { readonly pinned: boolean }>(images.map((i) => [i.id, i]))
        const aged = { ...policy, maximumAgeMs: 1 }
        for (const { id } of [
          ...imagesForSpace(records, inUse, policy, now),
          ...imagesPastAge(records, inUse, aged, { nowNanos: now, beganNanos: 0n }),
        ]) {
          expect(inUse.has(id)).toBe(false)
          expect(last.get(id)?.pinned).toBe(false)
        }
      }
    }),
    { numRuns: 2000 },
  )
})

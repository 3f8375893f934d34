import { expect, test } from 'vitest'
import { parsePod } from '../pod/parse-pod.js'
import { hugePageSizeName, podHugetlb, possiblePageSizes } from './hugetlb.js'

const pod = (...limits: readonly Readonly<Record<string, string>>[]) =>
  parsePod({
    metadata: { name: 'web', uid: 'u' },
    spec: { containers: limits.map((l, i) => ({ name: `c${i}`, resources: { limits: l } })) },
  })
const kernel = (version: 'v1' | 'v2') => {
  const last = version === 'v2' ? 'max' : 'limit_in_bytes'
  const files = ['2MB', '1GB'].flatMap((s) => [`hugetlb.${s}.${last}`, `hugetlb.${s}.rsvd.${last}`])
  return (file: string): boolean => files.includes(file)
}

test('huge pages of a pod: what its containers ask for together, nothing of any other size', () => {
  const asked = pod({ 'hugepages-2Mi': '4Mi', memory: '1Gi' }, { 'hugepages-2Mi': '2Mi' })
  expect(podHugetlb(asked, 'v2', kernel('v2'))).toEqual({
    'hugetlb.2MB.max': '6291456',
    'hugetlb.2MB.rsvd.max': '6291456',
    'hugetlb.1GB.max': '0',
    'hugetlb.1GB.rsvd.max': '0',
  })
  expect(podHugetlb(asked, 'v1', kernel('v1'))).toEqual({
    'hugetlb.2MB.limit_in_bytes': '6291456',
    'hugetlb.2MB.rsvd.limit_in_bytes': '6291456',
    'hugetlb.1GB.limit_in_bytes': '0',
    'hugetlb.1GB.rsvd.limit_in_bytes': '0',
  })
})

test('huge pages of a pod: a kernel before 5.7 has no reservations, and one without huge pages nothing', () => {
  const asked = pod({ 'hugepages-1Gi': '2Gi' })
  expect(podHugetlb(asked, 'v2', (file) => file === 'hugetlb.1GB.max')).toEqual({
    'hugetlb.1GB.max': '2147483648',
  })
  expect(podHugetlb(asked, 'v2', () => false)).toEqual({})
})

for (const [size, name] of [
  ['64Ki', '64KB'],
  ['2Mi', '2MB'],
  ['2048Ki', '2MB'],
  ['1Gi', '1GB'],
] as const)
  test(`huge pages of ${size} are ${name} to the kernel`, () => expect(hugePageSizeName(size)).toBe(name))

test('sizes that kernels have files for', () => {
  expect(possiblePageSizes).toEqual(expect.arrayContaining(['64KB', '2MB', '32MB', '1GB', '16GB']))
})

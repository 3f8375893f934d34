import { expect, test } from 'vitest'
import { checkKernel, parseKernelVersion } from './kernel-check.js'

for (const [osrelease, kind] of [
  ['5.8.18-100.fc31.x86_64\n', 'livelock-risk'],
  ['5.9.0-rc1', 'fine'],
  ['5.10.0-28-cloud-amd64', 'fine'],
  ['6.1', 'fine'],
  ['4.19.0', 'livelock-risk'],
  ['v5.4', 'livelock-risk'],
  [' 6.12.1 \n', 'fine'],
  ['6', 'unreadable'],
  ['6.', 'unreadable'],
  ['six.one', 'unreadable'],
  ['', 'unreadable'],
  [undefined, 'unreadable'],
] as const) {
  test(`${JSON.stringify(osrelease)} is ${kind}`, () => {
    expect(checkKernel({ osrelease, gate: true, cgroupVersion: 2 }).kind).toBe(kind)
  })
}

test('not made with the gate off or on cgroup v1', () => {
  expect(checkKernel({ osrelease: '4.0', gate: false, cgroupVersion: 2 })).toEqual({
    kind: 'not-made',
    why: 'gate-off',
  })
  expect(checkKernel({ osrelease: '4.0', gate: true, cgroupVersion: 1 })).toEqual({
    kind: 'not-made',
    why: 'cgroup-v1',
  })
})

test('numbers, not texts, are compared', () => {
  expect(parseKernelVersion('5.10.3')).toEqual({ major: 5, minor: 10 })
})

import { expect, test } from 'vitest'
import { parsePod } from '../../../core/pod/parse-pod.js'
import { localStorageExceeded } from './local-storage.js'
import type { PodUse } from './pod-usage.js'

const MiB = 1024n ** 2n
const use = (layer: bigint, logs: bigint, volume: bigint): PodUse => ({
  uid: 'u',
  memoryBytes: undefined,
  processes: undefined,
  containers: [
    {
      name: 'c',
      memoryBytes: undefined,
      rootfs: { bytes: layer, inodes: 1n },
      logs: { bytes: logs, inodes: 1n },
    },
  ],
  volumes: new Map([['v', { bytes: volume, inodes: 1n }]]),
  ephemeralBytes: layer + logs + volume,
})
const limited = (limits: object, emptyDir: object = {}) => ({
  pod: parsePod({
    metadata: { name: 'web', uid: 'u' },
    spec: { containers: [{ name: 'c', resources: { limits } }] },
  }),
  volumes: [
    { name: 'v', emptyDir },
    { name: 'w', hostPath: { path: '/x' } },
  ],
})
const messageOf = (...args: Parameters<typeof localStorageExceeded>) => localStorageExceeded(...args)?.message

test('an emptyDir above its sizeLimit; exactly at it is allowed, and one in memory is left to the kernel', () => {
  const pod = limited({}, { sizeLimit: '1Mi' })
  expect(messageOf(pod, use(0n, 0n, MiB), false)).toBeUndefined()
  expect(messageOf(pod, use(0n, 0n, MiB + 1n), false)).toBe(
    'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
  )
  expect(
    messageOf(limited({}, { sizeLimit: '1Mi', medium: 'Memory' }), use(0n, 0n, 9n * MiB), false),
  ).toBeUndefined()
  expect(messageOf(limited({}, { sizeLimit: '0' }), use(0n, 0n, 9n * MiB), false)).toBeUndefined()
})

test('the pod as a whole, then each container; layers on another file system are left out of the container', () => {
  const pod = limited({ 'ephemeral-storage': '2Mi' })
  expect(messageOf(pod, use(MiB, 0n, MiB + 1n), false)).toBe(
    'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ',
  )
  const unknown = { ...use(2n * MiB, 1n, 0n), ephemeralBytes: undefined }
  expect(messageOf(pod, unknown, false)).toBe(
    'Container c exceeded its local ephemeral storage limit "2Mi". ',
  )
  expect(messageOf(pod, unknown, true)).toBeUndefined()
  expect(messageOf(limited({}), use(9n * MiB, 9n * MiB, 9n * MiB), false)).toBeUndefined()
})

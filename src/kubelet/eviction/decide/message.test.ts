import { expect, test } from 'vitest'
import { parsePod } from '../../../core/pod/parse-pod.js'
import { evictionText } from './message.js'
import type { PodUse } from './pod-usage.js'

const MiB = 1024n ** 2n
const pod = parsePod({
  metadata: { name: 'web', uid: 'u' },
  spec: {
    containers: [
      { name: 'c' },
      { name: 'modest', resources: { requests: { memory: '1Gi', 'ephemeral-storage': '1Mi' } } },
    ],
  },
})
const use: PodUse = {
  uid: 'u',
  memoryBytes: 300n * MiB,
  processes: 3n,
  containers: [
    {
      name: 'c',
      memoryBytes: 200n * MiB,
      rootfs: { bytes: 2n * MiB, inodes: 5n },
      logs: { bytes: MiB, inodes: 1n },
    },
    {
      name: 'modest',
      memoryBytes: 100n * MiB,
      rootfs: { bytes: MiB, inodes: 5n },
      logs: { bytes: 0n, inodes: 1n },
    },
  ],
  volumes: new Map(),
  ephemeralBytes: 4n * MiB,
}
const threshold = (signal: 'memory.available' | 'nodefs.available' | 'nodefs.inodesFree', value: string) => ({
  signal,
  value,
  graceMs: 0,
  minReclaim: undefined,
})

test('memory: threshold, what was available, and each container above its request', () => {
  const seen = { available: 93n * MiB, capacity: 1000n * MiB, timeNanos: 1n }
  expect(
    evictionText(pod, use, [threshold('memory.available', '100Mi')], new Map([['memory.available', seen]])),
  ).toEqual({
    message:
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 93Mi. Container c was using 200Mi, request is 0, has larger consumption of memory. ',
    annotations: {
      offending_containers: 'c',
      offending_containers_usage: '200Mi',
      starved_resource: 'memory',
    },
  })
})

test('disk: writable layer and logs of a container together, against its request', () => {
  const seen = { available: 15_000n * 1024n, capacity: 200_000n * 1024n, timeNanos: 1n }
  const { message, annotations } = evictionText(
    pod,
    use,
    [threshold('nodefs.available', '10%')],
    new Map([['nodefs.available', seen]]),
  )
  expect(message).toBe(
    'The node was low on resource: ephemeral-storage. Threshold quantity: 20000Ki, available: 15000Ki. Container c was using 3Mi, request is 0, has larger consumption of ephemeral-storage. ',
  )
  expect(annotations['offending_containers']).toBe('c')
})

test('inodes: counts, and no container is named', () => {
  const seen = { available: 20_000n, capacity: 1_000_000n, timeNanos: 1n }
  expect(
    evictionText(pod, use, [threshold('nodefs.inodesFree', '50000')], new Map([['nodefs.inodesFree', seen]])),
  ).toEqual({
    message: 'The node was low on resource: inodes. Threshold quantity: 50k, available: 20k. ',
    annotations: { offending_containers: '', offending_containers_usage: '', starved_resource: 'inodes' },
  })
})

test('a pod with resources of its own is named as a whole', () => {
  const whole = parsePod({
    metadata: { name: 'web', uid: 'u' },
    spec: { resources: { requests: { memory: '250Mi' } }, containers: [{ name: 'c' }] },
  })
  const { message, annotations } = evictionText(whole, use, [threshold('memory.available', '1')], new Map())
  expect(message).toContain('Pod web was using 300Mi, request is 250Mi, has larger consumption of memory. ')
  expect(annotations).toMatchObject({ offending_pod: 'web', offending_pod_usage: '300Mi' })
})

// The bytes of the metrics answer against those of the generated encoder.
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ListPodSandboxMetricsResponse } from '../../cri-api/api.js'
import { cpuFamilies as cpu } from '../../stats/catalogue/cpu.js'
import { diskFamilies as disk } from '../../stats/catalogue/disk.js'
import { extraLabels } from '../../stats/catalogue/family.js'
import { allFamilies } from '../../stats/catalogue/index.js'
import { createLabelSet } from '../../stats/render/label-set.js'
import type { Series } from '../../stats/render/series.js'
import { encodePodMetrics } from './encode.js'
import { podMetricsOf } from './messages.js'
import type { PodSeries } from './series.js'

const labels = createLabelSet('container', {
  container: 'app',
  id: `/kubepods/pod1/${'c'.repeat(64)}`,
  image: 'registry.example/größe:1',
  name: 'c'.repeat(64),
  namespace: '',
  pod: 'web',
})
const podLabels = createLabelSet('pod', { ...labels.values, container: '', name: '', image: '' })

const generated = (pods: readonly PodSeries[]): Uint8Array =>
  ListPodSandboxMetricsResponse.encode({ podMetrics: pods.map(podMetricsOf) }).finish()

async function assertSame(pods: readonly PodSeries[]): Promise<void> {
  const encoded = await encodePodMetrics(pods.map((pod) => () => pod))
  assert.deepEqual(Buffer.from(encoded), Buffer.from(generated(pods)))
}

const time = 1_790_000_000_123_456_789n
const series = (over: Partial<Series>): Series => ({
  family: cpu.container_cpu_usage_seconds_total,
  labels,
  extra: undefined,
  value: 1n,
  timeNanos: time,
  ...over,
})

describe('the metrics answer', () => {
  for (const { name, pods } of [
    { name: 'no pods', pods: [] },
    { name: 'a pod without anything', pods: [{ podSandboxId: 'a', pod: [], containers: new Map() }] },
    { name: 'a nameless pod', pods: [{ podSandboxId: '', pod: [series({})], containers: new Map() }] },
    {
      name: 'an empty container beside a full one',
      pods: [
        {
          podSandboxId: 'a',
          pod: [series({ labels: podLabels })],
          containers: new Map([
            ['x', []],
            ['y', [series({}), series({ timeNanos: 0n })]],
          ]),
        },
      ],
    },
  ])
    test(name, () => assertSame(pods))

  test('values of every size, whole seconds of them where CRI has no more', async () => {
    const values = [0n, 1n, 127n, 128n, 999_999_999n, 10n ** 9n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n]
    const families = [cpu.container_cpu_usage_seconds_total, disk.container_fs_usage_bytes]
    const pod = families.flatMap((family) => values.map((value) => series({ family, value })))
    await assertSame([{ podSandboxId: 'a', pod, containers: new Map() }])
  })

  test('extra labels in the order of the family, empty where they are not given', async () => {
    const pod = [
      series({ family: disk.container_fs_reads_total, extra: extraLabels({ device: '/dev/sda' }) }),
      series({ family: disk.container_fs_reads_total, extra: undefined }),
      series({
        family: disk.container_blkio_device_usage_total,
        extra: extraLabels({ operation: 'Read', minor: '0', major: '8', device: '/dev/sda' }),
      }),
    ]
    await assertSame([{ podSandboxId: 'a', pod, containers: new Map() }])
  })

  test('every family, in more pods than a first guess has room for', async () => {
    const long = createLabelSet('container', { ...labels.values, pod: 'p'.repeat(2_000) })
    const all = allFamilies.map((family, i) =>
      series({ family, labels: i % 2 ? labels : long, value: BigInt(i) ** 7n }),
    )
    const pods = Array.from({ length: 20 }, (_, i) => ({
      podSandboxId: `sandbox-${i}`,
      pod: all,
      containers: new Map([[`c${i}`, all.map((s) => ({ ...s, timeNanos: time + BigInt(i) }))]]),
    }))
    await assertSame(pods)
  })

  test('a long answer after a short one, and a short one after that', async () => {
    const pod = (count: number): PodSeries => ({
      podSandboxId: 'a',
      pod: Array.from({ length: count }, (_, i) => series({ value: BigInt(i) })),
      containers: new Map(),
    })
    for (const count of [1, 500, 1]) await assertSame([pod(count), pod(count)])
  })
})

// What a runtime that delivers would say about the pods of a fixture: stats with nanoseconds, metrics cut to whole numbers,
// in the label order of containerd.
import {
  type ContainerStats,
  type DeepPartial,
  type Metric,
  MetricDescriptor,
  MetricType,
  PodSandboxMetrics,
  PodSandboxStats,
} from '../../src/cri-api/api.js'
import { type FixturePod, startNanos } from './stats-fixture.js'

const keys = ['pod', 'namespace', 'container', 'id', 'image']

const declared: readonly (readonly [string, MetricType, readonly string[]])[] = [
  ['container_cpu_usage_seconds_total', MetricType.COUNTER, []],
  ['container_memory_working_set_bytes', MetricType.GAUGE, []],
  ['container_fs_reads_total', MetricType.COUNTER, ['device']],
  ['container_network_receive_bytes_total', MetricType.COUNTER, ['interface']],
  ['container_start_time_seconds', MetricType.GAUGE, []],
  ['runtime_only_total', MetricType.COUNTER, []],
]

export const descriptors = declared.map(([name, , extra]) =>
  MetricDescriptor.fromPartial({ name, help: `About ${name}.`, labelKeys: [...keys, ...extra] }),
)

export const statsOf = (pod: FixturePod, timestamp = startNanos, cpu = 12_345_678_901n): PodSandboxStats =>
  PodSandboxStats.fromPartial({
    attributes: { id: pod.sandboxId },
    linux: {
      cpu: { timestamp, usageCoreNanoSeconds: { value: cpu * 2n } },
      memory: {
        timestamp,
        workingSetBytes: { value: 90_000_000n },
        usageBytes: { value: 95_000_000n },
        availableBytes: { value: 0n },
      },
      network: {
        timestamp,
        defaultInterface: { name: 'eth0', rxBytes: { value: 10n }, txBytes: { value: 20n } },
        interfaces: [
          { name: 'eth0', rxBytes: { value: 10n }, txBytes: { value: 20n } },
          { name: 'net1', rxBytes: { value: 1n }, txBytes: { value: 2n } },
        ],
      },
      process: { timestamp, processCount: { value: 5n } },
      containers: pod.containers.map(
        (c): DeepPartial<ContainerStats> => ({
          attributes: { id: c.id },
          cpu: { timestamp, usageCoreNanoSeconds: { value: cpu }, usageNanoCores: { value: 0n } },
          memory: { timestamp, workingSetBytes: { value: 40_000_000n }, availableBytes: { value: 7n } },
          swap: { timestamp, swapAvailableBytes: { value: 100n }, swapUsageBytes: { value: 11n } },
          writableLayer: {
            timestamp,
            fsId: { mountpoint: '/var/lib/fake' },
            usedBytes: { value: 4096n },
            inodesUsed: { value: 3n },
          },
        }),
      ),
    },
  })

export function metricsOf(pod: FixturePod, timestamp = startNanos): PodSandboxMetrics {
  const values = (container: string, id: string, ...extra: string[]): string[] => [
    pod.name,
    pod.namespace,
    container,
    id,
    `image of ${container}`,
    ...extra,
  ]
  const metric = (name: string, value: bigint, labelValues: string[]): DeepPartial<Metric> => ({
    name,
    timestamp,
    metricType: declared.find(([n]) => n === name)?.[1] ?? MetricType.GAUGE,
    labelValues,
    value: { value },
  })
  return PodSandboxMetrics.fromPartial({
    podSandboxId: pod.sandboxId,
    metrics: [metric('container_network_receive_bytes_total', 10n, values('', pod.sandboxId, 'eth0'))],
    containerMetrics: pod.containers.map((c) => ({
      containerId: c.id,
      metrics: [
        metric('container_cpu_usage_seconds_total', 12n, values(c.name, c.id)),
        metric('container_memory_working_set_bytes', 40_000_000n, values(c.name, c.id)),
        metric('container_fs_reads_total', 3n, values(c.name, c.id, '8:0')),
        metric('container_start_time_seconds', 1_789_997_000n, values(c.name, c.id)),
        { ...metric('runtime_only_total', 1n, values(c.name, c.id)), timestamp: 0n },
      ],
    })),
  })
}

/** Answers of a runtime that has both kinds of values. */
export const delivers = (pods: readonly FixturePod[], now: () => bigint = () => startNanos) => ({
  listPodSandboxStats: () => ({
    stats: pods.map((p) => statsOf(p, now(), 12_345_678_901n + (now() - startNanos) / 4n)),
  }),
  listMetricDescriptors: () => ({ descriptors }),
  listPodSandboxMetrics: () => ({ podMetrics: pods.map((p) => metricsOf(p, now())) }),
})

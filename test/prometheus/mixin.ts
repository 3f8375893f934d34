// What kubernetes-mixin asks of a kubelet: its recording rules, the alert on throttling, and a query for each of the 17
// container metrics, with the selectors, joins and groupings of its rules and dashboards.

const cadvisor = 'job="kubelet", metrics_path="/metrics/cadvisor"'
const podInfo =
  '* on (cluster, namespace, pod) group_left(node) topk by (cluster, namespace, pod) (1, max by (cluster, namespace, pod, node) (kube_pod_info{node!=""}))'

const memoryRule = (metric: string) => ({
  record: `node_namespace_pod_container:${metric}`,
  expr: `max by (cluster, namespace, pod, container) (${metric}{${cadvisor}, image!=""}) ${podInfo}`,
})

const memoryMetrics = [
  'container_memory_working_set_bytes',
  'container_memory_rss',
  'container_memory_cache',
  'container_memory_swap',
]

/** A dashboard writes its interval here; five minutes in the original. */
const window = '[1m]'

export const mixinRules = {
  groups: [
    {
      name: 'k8s.rules',
      rules: [
        {
          record: 'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m',
          expr: `sum by (cluster, namespace, pod, container) (rate(container_cpu_usage_seconds_total{${cadvisor}, image!=""}${window})) ${podInfo}`,
        },
        {
          record: 'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_irate',
          expr: `sum by (cluster, namespace, pod, container) (irate(container_cpu_usage_seconds_total{${cadvisor}, image!=""}${window})) ${podInfo}`,
        },
        ...memoryMetrics.map(memoryRule),
        {
          alert: 'CPUThrottlingHigh',
          expr: `sum without (id, metrics_path, name, image, endpoint, job, node) (increase(container_cpu_cfs_throttled_periods_total{container!="", ${cadvisor}}${window})) / on (cluster, namespace, pod, container, instance) group_left sum without (id, metrics_path, name, image, endpoint, job, node) (increase(container_cpu_cfs_periods_total{${cadvisor}}${window})) > (25 / 100)`,
        },
      ],
    },
  ],
}

const disk = 'device=~"(/dev/)?(mmcblk.p.+|nvme.+|rbd.+|sd.+|vd.+|xvd.+|dm-.+|md.+|dasd.+)"'
const network = (direction: string, what: string) =>
  `sum by (namespace, pod) (rate(container_network_${direction}_${what}_total{${cadvisor}, namespace!=""}${window}))`
const storage = (metric: string) =>
  `sum by (namespace, pod, container) (rate(${metric}{${cadvisor}, container!="", ${disk}}${window}))`

/** Metric -> the panel's query. Together with the rules above these are all 17. */
export const mixinQueries: Readonly<Record<string, string>> = {
  container_cpu_usage_seconds_total:
    'node_namespace_pod_container:container_cpu_usage_seconds_total:sum_rate5m',
  ...Object.fromEntries(
    memoryMetrics.map((m) => [m, `sum by (container) (node_namespace_pod_container:${m}{container!=""})`]),
  ),
  container_cpu_cfs_throttled_periods_total: `sum by (container) (increase(container_cpu_cfs_throttled_periods_total{${cadvisor}, container!=""}${window})) / sum by (container) (increase(container_cpu_cfs_periods_total{${cadvisor}, container!=""}${window}))`,
  container_cpu_cfs_periods_total: `sum by (container) (increase(container_cpu_cfs_periods_total{${cadvisor}, container!=""}${window}))`,
  ...Object.fromEntries(
    ['receive', 'transmit'].flatMap((direction) =>
      ['bytes', 'packets', 'packets_dropped'].map((what) => [
        `container_network_${direction}_${what}_total`,
        network(direction, what),
      ]),
    ),
  ),
  ...Object.fromEntries(
    ['reads', 'writes', 'reads_bytes', 'writes_bytes'].map((what) => [
      `container_fs_${what}_total`,
      storage(`container_fs_${what}_total`),
    ]),
  ),
}

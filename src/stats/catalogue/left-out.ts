// Upstream families that Keelson does not expose, each with the reason that docs/metrics.md shows.

const needsTaskstats = 'needs the taskstats netlink socket; the KEP removes it'
const perTask = 'one read for every thread in every sweep; no consumer of the kubelet asks for it'
const sockets = 'a walk over every socket of the pod; scrapers drop it on arrival'
const perf = 'needs perf_event_open for every container'
const resctrl = 'needs a resctrl monitoring group for every container'

export const leftOut: Readonly<Record<string, string>> = {
  container_cpu_load_average_10s: needsTaskstats,
  container_cpu_load_d_average_10s: needsTaskstats,
  container_cpu_schedstat_run_periods_total: perTask,
  container_cpu_schedstat_run_seconds_total: perTask,
  container_cpu_schedstat_runqueue_seconds_total: perTask,
  container_health_state: 'CRI has no image health checks',
  container_llc_occupancy_bytes: resctrl,
  container_memory_bandwidth_bytes: resctrl,
  container_memory_bandwidth_local_bytes: resctrl,
  container_memory_migrate: 'a cpuset setting of cgroup v1 that Kubernetes never changes',
  container_memory_numa_pages: 'off in the kubelet; dozens of series for each container',
  container_network_advance_tcp_stats_total: sockets,
  container_network_tcp6_usage_total: sockets,
  container_network_tcp_usage_total: sockets,
  container_network_udp6_usage_total: sockets,
  container_network_udp_usage_total: sockets,
  container_perf_events_scaling_ratio: perf,
  container_perf_events_total: perf,
  container_perf_uncore_events_scaling_ratio: perf,
  container_perf_uncore_events_total: perf,
  container_referenced_bytes: 'writes to clear_refs of other processes to be meaningful',
}

// Families of processor time.
import { define } from './family.js'

export const cpuFamilies = {
  container_cpu_cfs_burst_periods_total: define.counter(
    'container_cpu_cfs_burst_periods_total',
    'cpu',
    'container+pod',
    'Periods in which the cgroup used burst budget.',
  ),
  container_cpu_cfs_burst_seconds_total: define.counterSeconds(
    'container_cpu_cfs_burst_seconds_total',
    'cpu',
    'container+pod',
    'CPU time served from burst budget, in seconds.',
  ),
  container_cpu_cfs_periods_total: define.counter(
    'container_cpu_cfs_periods_total',
    'cpu',
    'container+pod',
    'Quota enforcement periods elapsed.',
  ),
  container_cpu_cfs_throttled_periods_total: define.counter(
    'container_cpu_cfs_throttled_periods_total',
    'cpu',
    'container+pod',
    'Enforcement periods in which the cgroup was throttled.',
  ),
  container_cpu_cfs_throttled_seconds_total: define.counterSeconds(
    'container_cpu_cfs_throttled_seconds_total',
    'cpu',
    'container+pod',
    'Time spent throttled, in seconds.',
  ),
  container_cpu_system_seconds_total: define.counterSeconds(
    'container_cpu_system_seconds_total',
    'cpu',
    'container+pod',
    'Kernel-mode CPU time in seconds.',
  ),
  container_cpu_usage_seconds_total: define.counterSeconds(
    'container_cpu_usage_seconds_total',
    'cpu',
    'container+pod',
    'CPU time used, all cores, in seconds.',
    { extraLabels: ['cpu'] },
  ),
  container_cpu_user_seconds_total: define.counterSeconds(
    'container_cpu_user_seconds_total',
    'cpu',
    'container+pod',
    'User-mode CPU time in seconds.',
  ),
} as const

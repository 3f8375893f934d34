// Families that every container, pod and slice has: times, limits of the specification, and whether the scrape worked.
import { define } from './family.js'

export const alwaysFamilies = {
  container_creation_time_seconds: define.gaugeSeconds(
    'container_creation_time_seconds',
    'always',
    'container+pod',
    'When the container was created.',
  ),
  container_last_seen: define.gaugeSeconds(
    'container_last_seen',
    'always',
    'container+pod',
    'When the container was last observed.',
  ),
  container_scrape_error: define.gauge(
    'container_scrape_error',
    'always',
    'node',
    '1 if gathering failed, else 0.',
  ),
  container_spec_cpu_period: define.gauge(
    'container_spec_cpu_period',
    'always',
    'container+pod',
    'CPU quota period.',
  ),
  container_spec_cpu_quota: define.gauge(
    'container_spec_cpu_quota',
    'always',
    'container+pod',
    'CPU quota per period.',
  ),
  container_spec_cpu_shares: define.gauge(
    'container_spec_cpu_shares',
    'always',
    'container+pod',
    'CPU shares.',
  ),
  container_spec_memory_limit_bytes: define.gauge(
    'container_spec_memory_limit_bytes',
    'always',
    'container+pod',
    'Memory limit; 0 means none.',
  ),
  container_spec_memory_reservation_limit_bytes: define.gauge(
    'container_spec_memory_reservation_limit_bytes',
    'always',
    'container+pod',
    'Protected memory; 0 means none.',
  ),
  container_spec_memory_swap_limit_bytes: define.gauge(
    'container_spec_memory_swap_limit_bytes',
    'always',
    'container+pod',
    'Swap limit; 0 means none.',
  ),
  container_start_time_seconds: define.gaugeSeconds(
    'container_start_time_seconds',
    'always',
    'container+pod',
    'When the container started.',
  ),
} as const

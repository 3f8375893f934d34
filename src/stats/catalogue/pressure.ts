// Families of pressure stall information.
import { define } from './family.js'

export const pressureFamilies = {
  container_pressure_cpu_stalled_seconds_total: define.counterSeconds(
    'container_pressure_cpu_stalled_seconds_total',
    'pressure',
    'container+pod',
    'Time all tasks were stalled on cpu.',
  ),
  container_pressure_cpu_waiting_seconds_total: define.counterSeconds(
    'container_pressure_cpu_waiting_seconds_total',
    'pressure',
    'container+pod',
    'Time some task waited for cpu.',
  ),
  container_pressure_io_stalled_seconds_total: define.counterSeconds(
    'container_pressure_io_stalled_seconds_total',
    'pressure',
    'container+pod',
    'Time all tasks were stalled on io.',
  ),
  container_pressure_io_waiting_seconds_total: define.counterSeconds(
    'container_pressure_io_waiting_seconds_total',
    'pressure',
    'container+pod',
    'Time some task waited for io.',
  ),
  container_pressure_memory_stalled_seconds_total: define.counterSeconds(
    'container_pressure_memory_stalled_seconds_total',
    'pressure',
    'container+pod',
    'Time all tasks were stalled on memory.',
  ),
  container_pressure_memory_waiting_seconds_total: define.counterSeconds(
    'container_pressure_memory_waiting_seconds_total',
    'pressure',
    'container+pod',
    'Time some task waited for memory.',
  ),
} as const

// Families of processes, threads and what they hold open.
import { define } from './family.js'

export const processFamilies = {
  container_file_descriptors: define.gauge(
    'container_file_descriptors',
    'process',
    'container',
    'Open file descriptors.',
  ),
  container_processes: define.gauge(
    'container_processes',
    'process',
    'container+pod',
    'Processes in the cgroup.',
  ),
  container_sockets: define.gauge('container_sockets', 'process', 'container', 'Open sockets.'),
  container_tasks_state: define.gauge(
    'container_tasks_state',
    'cpuLoad',
    'container',
    'Tasks per scheduler state.',
    { extraLabels: ['state'], enabledByDefault: false },
  ),
  container_threads: define.gauge('container_threads', 'process', 'container+pod', 'Threads in the cgroup.'),
  container_threads_max: define.gauge(
    'container_threads_max',
    'process',
    'container+pod',
    'Thread limit; 0 means none.',
  ),
  container_ulimits_soft: define.gauge(
    'container_ulimits_soft',
    'process',
    'container',
    "Soft resource limit of the container's first process.",
    { extraLabels: ['ulimit'] },
  ),
} as const

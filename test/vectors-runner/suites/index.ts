// The suites that can be run. A file says by its `suite` which of them it belongs to.
import type { Suite } from '../types.js'
import { cadvisorMetrics } from './cadvisor-metrics.js'
import { cgroupDriver } from './cgroup-driver.js'
import { cgroupSnapshot } from './cgroup-snapshot/suite.js'
import { memoryQos } from './memory-qos/suite.js'
import { nodeLocalCriSocket } from './node-local-cri-socket/suite.js'

export const suites: readonly Suite[] = [
  cadvisorMetrics,
  cgroupDriver,
  cgroupSnapshot,
  memoryQos,
  nodeLocalCriSocket,
]

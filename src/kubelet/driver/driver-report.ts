// Says what was decided about the cgroup driver: the KEP's line, the info lines, the gauge. Words are fixed here, so
// that operators and tests can rely on them.
import type { DriverInUse } from '../../core/driver/decide-driver.js'
import { deprecatedFallbackLine, oldestAnsweringRuntimes } from '../../core/driver/decide-driver.js'
import type { ProofFinding } from '../../core/driver/proof.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import type { NewEvent } from '../events/event-queue.js'

export const driverFromCriLine = 'using the cgroup driver that the runtime names'
const configuredDriverLine = 'using the configured cgroup driver'
export const configuredDriverIgnoredLine =
  'the configured cgroup driver is not used: the runtime names another'

export function reportDriver(inUse: DriverInUse, log: Log): void {
  const { driver, source, fallback, overruled } = inUse
  if (fallback !== undefined) log.warn(deprecatedFallbackLine, { fallback, cgroupDriver: driver, source })
  if (source === 'cri') log.info(driverFromCriLine, { cgroupDriver: driver, source })
  else log.info(configuredDriverLine, { cgroupDriver: driver, source })
  if (overruled !== undefined)
    log.info(configuredDriverIgnoredLine, {
      configured: overruled.value,
      setIn: overruled.place,
      cgroupDriver: driver,
    })
}

/** Registered only in a fallback, so that a good node does not even have the family. */
export function exposeLosingSupport(inUse: DriverInUse, metrics: Metrics): void {
  if (inUse.losingSupport === undefined) return
  const help =
    '[ALPHA] The Kubernetes release in which the container runtime of this node stops being usable.'
  metrics.gauge('kubelet_cri_losing_support', help, ['version']).set(1, { version: inUse.losingSupport })
}

export const runtimeUpgradeNeeded = (socket: string): NewEvent => ({
  type: 'Warning',
  reason: 'RuntimeUpgradeNeeded',
  message: `The container runtime at ${socket} does not report its cgroup driver over CRI. A future release will not start with it: upgrade to ${oldestAnsweringRuntimes} or later.`,
})

export function reportProof(findings: readonly ProofFinding[], log: Log): void {
  for (const { id, message, remedy, sandboxes } of findings)
    log.warn(message, { finding: id, remedy, ...(sandboxes === undefined ? {} : { sandboxes }) })
}

// systemd's watchdog for the commands that run as services. It is answered from the first moment on: a start may wait
// longer for the runtime than systemd waits to hear of us.
import { startWatchdog } from '../adapters/systemd/watchdog.js'
import { parseWatchdog } from '../adapters/systemd/watchdog-env.js'
import type { Log } from '../ports/log.js'
import type { HealthCheck } from '../serve/health.js'

interface ServiceWatchdog {
  /** Checks of a process that has started. Those about others are left out: starting us again would not fix them. */
  watch(checks: readonly HealthCheck[]): void
  stop(): void
}

export function answerWatchdog(env: Readonly<Record<string, string | undefined>>, log: Log): ServiceWatchdog {
  const watchdog = parseWatchdog(env, process.pid)
  if (watchdog === undefined) return { watch: () => undefined, stop: () => undefined }
  let watched: readonly HealthCheck[] = []
  const { stop } = startWatchdog({
    ...watchdog,
    env,
    log,
    async ask(signal) {
      for (const check of watched) {
        const problem = await check.check(signal)
        if (problem !== undefined) return `${check.name}: ${problem}`
      }
      return undefined
    },
  })
  return {
    watch(checks) {
      watched = checks.filter((c) => c.aboutOthers !== true)
    },
    stop,
  }
}

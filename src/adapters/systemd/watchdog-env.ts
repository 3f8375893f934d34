// systemd's watchdog over a service: whether it watches this process, and how often it wants to hear of it.

export interface Watchdog {
  /** systemd ends the service when it hears nothing for this long. */
  readonly limitMs: number
  /** Half of it, as sd_watchdog_enabled(3) advises. */
  readonly intervalMs: number
}

/** Undefined: there is no watchdog. The variables are inherited, so they may be meant for a parent. */
export function parseWatchdog(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): Watchdog | undefined {
  const { NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: limit = '', WATCHDOG_PID: watched = String(pid) } = env
  const limitMs = Number(limit) / 1000
  if (socket === '' || watched !== String(pid) || !/^\d+$/.test(limit) || limitMs < 1) return undefined
  return { limitMs, intervalMs: limitMs / 2 }
}

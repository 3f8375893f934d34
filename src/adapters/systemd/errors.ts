// What went wrong between us and systemd, as our errors.
import { isKeelsonError, type KeelsonError, keelsonError, messageOf } from '../../core/errors.js'
import { BusClosed, BusDeadline } from './bus.js'

/** `org.freedesktop.systemd1.NoSuchUnit` of a D-Bus error; undefined for every other kind. */
export const dbusErrorName = (error: unknown): string | undefined =>
  error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : undefined

/** The manager is not on the bus, or the bus says that it does not answer. */
const unreachable = [
  'org.freedesktop.DBus.Error.ServiceUnknown',
  'org.freedesktop.DBus.Error.NameHasNoOwner',
  'org.freedesktop.DBus.Error.NoReply',
  'org.freedesktop.DBus.Error.Disconnected',
  'org.freedesktop.DBus.Error.Timeout',
]

const denied = [
  'org.freedesktop.DBus.Error.AccessDenied',
  'org.freedesktop.DBus.Error.InteractiveAuthorizationRequired',
]

/** `what`: the request and its object, e.g. `start kubepods.slice`. */
export function systemdError(what: string, address: string, error: unknown): unknown {
  if (isKeelsonError(error)) return error
  const name = dbusErrorName(error)
  const reason = messageOf(error)
  if (error instanceof BusClosed || error instanceof BusDeadline || unreachable.includes(name ?? ''))
    return unavailable(what, address, reason, error)
  if (name === undefined) return error
  const advice = denied.includes(name) ? 'run as root' : 'see its journal'
  return keelsonError(
    'systemd.failed',
    `${what}: systemd refused: ${reason}; ${advice}`,
    { dbusError: name },
    error,
  )
}

export const unavailable = (what: string, address: string, reason: string, cause?: unknown): KeelsonError =>
  keelsonError(
    'systemd.unavailable',
    `${what}: ${reason} (${address}); is systemd running as PID 1 with a system bus?`,
    { address },
    cause,
  )

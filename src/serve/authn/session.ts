// Browser logins. A ticket in a URL works once and soon ends; it becomes a cookie. Both stand for the credential
// that asked for them, which is checked again on each request: what it loses, the session loses too.
import type { Clock } from '../../ports/clock.js'
import type { Secrets } from '../../ports/secrets.js'
import { createExpiringCache } from '../expiring-cache.js'
import { type Authenticator, absent, type Credentials, refused } from './authenticator.js'

interface SessionLimits {
  readonly ticketMs: number
  readonly sessionMs: number
  readonly maxSessions: number
}

const defaultSessionLimits: SessionLimits = {
  ticketMs: 60_000,
  sessionMs: 12 * 3_600_000,
  maxSessions: 256,
}

export interface Sessions extends Authenticator {
  readonly sessionMs: number
  /** A one-time ticket for the bearer of these credentials. Undefined: a session cannot beget another. */
  createTicket(credentials: Credentials): string | undefined
  /** Whether `redeem` would give a session for it now. */
  isOpen(ticket: string): boolean
  /** Ends the ticket and gives the cookie's value; undefined: unknown, used or too old. */
  redeem(ticket: string): string | undefined
  end(session: string): void
}

export function createSessions(
  clock: Clock,
  secrets: Pick<Secrets, 'random' | 'digest'>,
  base: Authenticator,
  limits: SessionLimits = defaultSessionLimits,
): Sessions {
  const tickets = createExpiringCache<Credentials>(clock, limits.maxSessions)
  const sessions = createExpiringCache<Credentials>(clock, limits.maxSessions)
  return {
    name: 'session',
    sessionMs: limits.sessionMs,
    async authenticate({ session }, signal) {
      if (session === undefined) return absent
      const credentials = sessions.get(secrets.digest(session))
      if (credentials === undefined) return refused('the session is unknown or has expired')
      const verdict = await base.authenticate(credentials, signal)
      return verdict.kind === 'absent' ? refused('the credential of the session is no longer valid') : verdict
    },
    createTicket(credentials) {
      const { bearer, certificate } = credentials
      if (bearer === undefined && certificate === undefined) return undefined
      const ticket = secrets.random()
      tickets.set(secrets.digest(ticket), credentials, limits.ticketMs)
      return ticket
    },
    isOpen: (ticket) => tickets.get(secrets.digest(ticket)) !== undefined,
    redeem(ticket) {
      const key = secrets.digest(ticket)
      const credentials = tickets.get(key)
      if (credentials === undefined) return undefined
      tickets.delete(key)
      const session = secrets.random()
      sessions.set(secrets.digest(session), credentials, limits.sessionMs)
      return session
    },
    end: (session) => sessions.delete(secrets.digest(session)),
  }
}

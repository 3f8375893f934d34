// /login: a client with a token or certificate requests a ticket (POST); a browser sends it in a URL (GET) and gets a
// session cookie. DELETE ends the session.
import { keelsonError } from '../../core/errors.js'
import type { Credentials } from '../authn/authenticator.js'
import { readCredentials } from '../authn/credentials.js'
import type { Sessions } from '../authn/session.js'
import type { Endpoint } from '../endpoint.js'
import { failure, jsonAnswer, safeHeaders } from '../failures.js'

const pageHeaders = {
  ...safeHeaders,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'referrer-policy': 'no-referrer',
}

// A page that moves on by itself and not a redirect: after a link from elsewhere, a Strict cookie is only sent
// once a page of our own asks.
const movingOn =
  '<!doctype html><html lang="en"><title>Keelson</title><meta http-equiv="refresh" content="0;url=/"><p>Logged in. <a href="/">Continue</a></p></html>\n'

export function login(sessions: Sessions, cookieName: () => string): readonly Endpoint[] {
  const cookie = (value: string, maxAge: number): string =>
    `${cookieName()}=${value}; Path=/; Max-Age=${maxAge}; Secure; HttpOnly; SameSite=Strict`
  const shown = (request: Parameters<Endpoint['handle']>[0]): Credentials => {
    const read = readCredentials(request, cookieName())
    return read.kind === 'read' ? read.credentials : {}
  }
  return [
    {
      name: 'login/ticket',
      path: '/login',
      methods: ['POST'],
      handle(request) {
        const ticket = sessions.createTicket(shown(request))
        if (ticket === undefined)
          throw keelsonError('request.invalid', 'a login link needs a token or a certificate, not a session')
        return jsonAnswer({ path: `/login?ticket=${ticket}` }, 201)
      },
    },
    {
      name: 'login',
      path: '/login',
      methods: ['GET'],
      open: true,
      timeoutMs: 10_000,
      handle(request, { query }) {
        const ticket = query.get('ticket') ?? ''
        // What looks at a link before a person opens it must not use it up.
        if (request.method === 'HEAD' && sessions.isOpen(ticket))
          return { status: 200, headers: pageHeaders, body: movingOn }
        const session = sessions.redeem(ticket)
        if (session === undefined)
          return failure(request, 401, 'The login link is unknown, used or expired; request a new one.', {
            close: true,
          })
        const headers = {
          ...pageHeaders,
          'set-cookie': cookie(session, Math.floor(sessions.sessionMs / 1000)),
        }
        return { status: 200, headers, body: movingOn }
      },
    },
    {
      name: 'login/end',
      path: '/login',
      methods: ['DELETE'],
      handle(request) {
        const { session } = shown(request)
        if (session !== undefined) sessions.end(session)
        return { status: 204, headers: { ...safeHeaders, 'set-cookie': cookie('', 0) }, body: '' }
      },
    },
  ]
}

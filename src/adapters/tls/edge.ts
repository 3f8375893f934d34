// TLS of one listener: its settings, new certificates and CAs while it runs, and what is known of a client's
// certificate. Sessions are never resumed, so that every connection proves its chain anew.
import { constants, type X509Certificate } from 'node:crypto'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import { type TlsOptions as NodeTlsOptions, TLSSocket } from 'node:tls'
import type { PeerCertificate, TlsMaterial, TlsOptions } from '../../ports/http.js'
import { chainOf, dateProblem, parseBundle, reaches } from './client-trust.js'

export interface TlsEdge {
  options(): NodeTlsOptions
  attach(server: Server): void
  /** Rises with each change of the client CA. */
  generation(): number
  certificateOf(socket: Socket, generation: number): PeerCertificate | undefined
  close(): void
}

const names = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value

interface Trust {
  readonly generation: number
  readonly pem: string
  readonly roots: readonly X509Certificate[]
}

function createPeerCertificate(
  socket: TLSSocket,
  proven: number,
  trust: () => Trust,
): PeerCertificate | undefined {
  const leaf = socket.getPeerX509Certificate()
  if (leaf === undefined) return undefined
  const subject = leaf.toLegacyObject().subject as unknown as Readonly<Record<string, string | string[]>>
  const chain = chainOf(leaf)
  const problem = socket.authorized ? undefined : String(socket.authorizationError ?? 'not verified')
  const answers = new Map<number, boolean>([[proven, true]])
  return {
    commonNames: names(subject.CN),
    organizations: names(subject.O),
    fingerprint256: leaf.fingerprint256,
    check() {
      if (problem !== undefined) return problem
      const nowMs = Date.now()
      const { generation, roots } = trust()
      const known = answers.get(generation) ?? reaches(chain, roots, nowMs)
      answers.clear()
      answers.set(generation, known)
      return known ? dateProblem(chain, nowMs) : 'its CA is no longer trusted'
    },
  }
}

export function createTlsEdge({ source, minVersion, ciphers, groups }: TlsOptions): TlsEdge {
  const trustIn = ({ clientCa }: TlsMaterial, generation: number): Trust => ({
    generation,
    pem: clientCa ?? '',
    roots: clientCa === undefined ? [] : parseBundle(clientCa, 'client CA'),
  })
  let trust = trustIn(source.current(), 0)
  const peers = new WeakMap<TLSSocket, PeerCertificate>()
  const contextOptions = ({ certificate, key, clientCa }: TlsMaterial): NodeTlsOptions => ({
    cert: certificate,
    key,
    // Without it Node would read its list of a hundred and fifty public CAs, none of which signs our clients.
    ca: clientCa ?? [],
    minVersion,
    ciphers: ciphers.join(':'),
    ...(groups.length === 0 ? {} : { ecdhCurve: groups.join(':') }),
    honorCipherOrder: true,
    secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
  })
  let stop = (): void => undefined
  return {
    options: () => ({
      ...contextOptions(source.current()),
      requestCert: source.current().clientCa !== undefined,
      rejectUnauthorized: false, // a bad certificate is answered with 401, as upstream does
      ALPNProtocols: ['http/1.1'],
    }),
    attach(server) {
      stop = source.onChange((material) => {
        server.setSecureContext(contextOptions(material))
        if ((material.clientCa ?? '') !== trust.pem) trust = trustIn(material, trust.generation + 1)
      })
    },
    generation: () => trust.generation,
    certificateOf(socket, generation) {
      if (!(socket instanceof TLSSocket) || trust.pem === '') return undefined
      const kept = peers.get(socket) ?? createPeerCertificate(socket, generation, () => trust)
      if (kept !== undefined) peers.set(socket, kept)
      return kept
    },
    close: () => stop(),
  }
}

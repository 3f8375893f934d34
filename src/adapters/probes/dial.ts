// Names and faults of probes' connections: addresses are used as they are, names are asked of DNS without the thread pool,
// so that a DNS server that never answers cannot stop the file access of the whole process.
import { Resolver } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'

const resolver = new Resolver({ timeout: 1_000, tries: 1 })

export const lookup: LookupFunction = (hostname, _options, callback) => {
  const answer = (address: string): void => {
    // `all` asks for a list; one address is all that is tried.
    callback(null, [{ address, family: isIP(address) }])
  }
  if (hostname === 'localhost') return answer('127.0.0.1')
  resolver.resolve4(hostname, (none, [v4] = []) => {
    if (none === null && v4 !== undefined) return answer(v4)
    resolver.resolve6(hostname, (error, [v6] = []) => {
      if (error === null && v6 !== undefined) return answer(v6)
      callback(error ?? new Error(`lookup ${hostname}: no such host`), [])
    })
  })
}

/** The kubelet's words for what its users search for. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
}

export const joinHostPort = (host: string, port: number): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`

export function dialFault(error: NodeJS.ErrnoException, host: string, port: number): string {
  const known = words[error.code ?? '']
  if (known !== undefined) return `dial tcp ${joinHostPort(host, port)}: ${known}`
  if (error.syscall === 'queryA' || error.syscall === 'queryAaaa')
    return `dial tcp: lookup ${host}: no such host`
  if (error.code === 'ECONNRESET')
    return error.message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
  return error.message
}

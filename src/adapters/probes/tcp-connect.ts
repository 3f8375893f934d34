// Whether a TCP port takes a connection.
import { connect } from 'node:net'
import type { ProbeTarget } from '../../ports/network/probe-calls.js'
import { dialFault, joinHostPort, lookup } from './dial.js'

/** Undefined: it does. */
export function tcpConnect(
  { host, port }: ProbeTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, lookup })
    const end = (message: string | undefined): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      socket.destroy()
      resolve(message)
    }
    const stop = (): void => end(`dial tcp ${joinHostPort(host, port)}: operation was canceled`)
    const timer = setTimeout(() => end(`dial tcp ${joinHostPort(host, port)}: i/o timeout`), timeoutMs)
    signal.addEventListener('abort', stop, { once: true })
    socket.on('connect', () => end(undefined))
    socket.on('error', (error) => end(dialFault(error, host, port)))
  })
}

// The URL that CRI Exec, Attach and PortForward return, as the address to connect to. Only one of this machine is accepted:
// what an upgraded connection carries must not leave it unencrypted.
import { keelsonError } from '../../../core/errors.js'
import type { StreamTarget } from '../../../ports/http.js'

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)

/** `http://127.0.0.1:33333/exec/TOKEN` */
export function streamTarget(text: string): StreamTarget {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.protocol !== 'http:' || !isLoopback(url.hostname))
    throw keelsonError(
      'runtime.failed',
      `the runtime's streaming server is at ${url?.origin ?? 'no URL'}: only plain HTTP on a loopback address is used; set its address to 127.0.0.1 (containerd: stream_server_address)`,
    )
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port === '' ? 80 : url.port),
    path: `${url.pathname}${url.search}`,
  }
}

// What never became a request: a short answer where one can still be read, and the end of the connection.
import type { Duplex } from 'node:stream'
import type { RefusedReason } from '../../ports/http.js'

interface Kind {
  readonly reason: RefusedReason
  readonly status: string
}

const malformed: Kind = { reason: 'malformed', status: '400 Bad Request' }

const kinds: Readonly<Record<string, Kind>> = {
  HPE_HEADER_OVERFLOW: { reason: 'header-too-large', status: '431 Request Header Fields Too Large' },
  ERR_HTTP_REQUEST_TIMEOUT: { reason: 'timeout', status: '408 Request Timeout' },
}

export function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): RefusedReason {
  const kind = kinds[error.code ?? ''] ?? malformed
  if (socket.writable && error.code !== 'ECONNRESET')
    socket.end(`HTTP/1.1 ${kind.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () =>
      socket.destroy(),
    )
  else socket.destroy()
  return kind.reason
}

// The answering half of one client's stream: headers, body, trailers, each once and in order, whatever happens in
// between. It does not know where an answer comes from.
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { GrpcStatus } from '../../../ports/cri-calls.js'
import { responseHeaders, statusHeaders } from './status.js'

export class Reply {
  /** Body bytes handed to the client. */
  bytes = 0
  /** Resolves when the stream is over, however it ended. */
  readonly closed: Promise<void>
  private trailers: OutgoingHttpHeaders = {}
  private isEnded = false

  constructor(readonly stream: ServerHttp2Stream) {
    // A stream that fails also closes; the reason is its reset code.
    stream.on('error', () => {})
    this.closed = new Promise((resolve) => {
      stream.once('close', resolve)
    })
  }

  /** The client has disconnected, or the answer is complete. */
  get isOver(): boolean {
    return this.isEnded || this.stream.destroyed || this.stream.closed
  }

  /** Headers that a body follows. */
  open(headers: OutgoingHttpHeaders): void {
    this.attempt(() => {
      this.stream.once('wantTrailers', () => this.attempt(() => this.stream.sendTrailers(this.trailers)))
      this.stream.respond(headers, { waitForTrailers: true, sendDate: false } as object)
    })
  }

  /** Headers that are the whole answer. */
  only(headers: OutgoingHttpHeaders): void {
    this.isEnded = true
    this.attempt(() => this.stream.respond(headers, { endStream: true, sendDate: false } as object))
    // A caller that has not ended its request would leave the stream half open.
    if (!this.stream.readableEnded) this.stream.resume()
  }

  /** False: wait for `drain`. */
  write(chunk: Uint8Array): boolean {
    if (this.isOver) return true
    this.bytes += chunk.length
    return this.stream.write(chunk)
  }

  end(trailers: OutgoingHttpHeaders, last?: Uint8Array): void {
    if (this.isOver) return
    this.isEnded = true
    this.trailers = trailers
    if (last === undefined) this.stream.end()
    else {
      this.bytes += last.length
      this.stream.end(last)
    }
    if (!this.stream.readableEnded) this.stream.resume()
  }

  refuse(status: GrpcStatus): void {
    if (this.isOver) return
    const headers = statusHeaders(status)
    if (this.stream.headersSent) this.end(headers)
    else this.only({ ...responseHeaders, ...headers })
  }

  reset(code: number): void {
    if (this.stream.destroyed || this.stream.closed) return
    this.isEnded = true
    this.stream.close(code)
  }

  /** Node throws on headers it will not send and on streams that have just gone; neither may end the process. */
  private attempt(send: () => void): void {
    try {
      send()
    } catch {
      if (!this.stream.destroyed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    }
  }
}

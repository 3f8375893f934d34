// One connection to a runtime by Node's HTTP/2: its windows, its calls, and when it is given up for another.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect, type Socket } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { keelsonError, messageOf } from '../../../core/errors.js'
import { keepSessionFor } from '../../http2/keep-session.js'
import { createResetBudget } from '../server/session-health.js'
import { createStreamWindow, firstWindowBytes, type StreamWindow } from './window.js'

/** One call on its way to the runtime. */
export interface RuntimeCall {
  readonly stream: ClientHttp2Stream
  readonly socketPath: string
  /** The whole connection has gone, not only this call. */
  readonly isConnectionLost: boolean
  /** How much of the answer may wait in the caller's stream. */
  readonly aheadBytes: number
  /** The runtime sees a request that is only half sent as cancelled, not as complete. */
  cancel(): void
  /**
   * The runtime has not answered in time. New calls get another connection; those in progress on this one go on if it answers
   * a ping.
   */
  doubtConnection(): void
}

/** Of the whole connection. Node gives it back on arrival, so that a slow stream does not hold up its neighbours. */
export const connectionWindowBytes = 16 * 1024 * 1024
/** In MiB; beyond it Node refuses new streams. Node's 10 are passed by a few large answers. */
export const sessionMemoryMiB = 1024
/** Of an answer's metadata. nghttp2 accepts no value above 64 KiB and reads nothing after one; a runtime that knows the limit ends only that call. */
const answerFieldsBytes = 64 * 1024
/** Node's own bound is 128. */
const answerFields = 4096
/** Of a request's metadata: more than the server takes. */
const requestFieldsBytes = 256 * 1024

export const dialSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    // Stays as long as the socket: nothing else listens for errors once its session is closed.
    socket.on('error', reject)
    socket.once('connect', () => resolve(socket))
  })

export class Connection {
  readonly session: ClientHttp2Session
  private readonly budget = createResetBudget()
  private readonly window: StreamWindow
  private calls = 0
  private isRetired = false
  private isDoubted = false

  constructor(
    private readonly socket: Socket,
    private readonly socketPath: string,
    private readonly silenceMs: number,
  ) {
    const session = connectHttp2('http://localhost', {
      createConnection: () => socket,
      settings: {
        enablePush: false,
        initialWindowSize: firstWindowBytes,
        maxHeaderListSize: answerFieldsBytes,
      },
      maxHeaderListPairs: answerFields,
      maxSendHeaderBlockLength: requestFieldsBytes,
      maxSessionMemory: sessionMemoryMiB,
      // Until the runtime says how many it takes.
      peerMaxConcurrentStreams: 100_000,
    })
    this.session = session
    this.window = createStreamWindow(session)
    session.setLocalWindowSize(connectionWindowBytes)
    // Each call learns of it by the end of its own stream.
    session.on('error', () => {})
    session.on('goaway', () => this.retire())
    // Calls that began since the last change have been left out of it.
    session.on('localSettings', () => this.window.adjust(this.calls))
  }

  get takesCalls(): boolean {
    return !this.isRetired && !this.session.closed && !this.session.destroyed && !this.socket.destroyed
  }

  /** The session alone would wait for the runtime to close its side. */
  destroy(): void {
    this.session.destroy()
    this.socket.destroy()
  }

  /** Error: request.invalid. */
  open(headers: OutgoingHttpHeaders, endStream: boolean): RuntimeCall {
    const stream = this.request(headers, endStream)
    this.calls += 1
    this.window.adjust(this.calls)
    // The reason is also in its reset code.
    stream.on('error', () => {})
    keepSessionFor(stream, this.session)
    stream.once('close', () => this.ended(stream.rstCode !== constants.NGHTTP2_NO_ERROR))
    // A connection that waits for its next call keeps no process running.
    if (this.calls === 1) this.session.ref()
    const connection = this
    return {
      stream,
      socketPath: this.socketPath,
      get isConnectionLost() {
        return connection.session.destroyed || connection.socket.destroyed
      },
      get aheadBytes() {
        return connection.window.aheadBytes
      },
      cancel() {
        // close() would end the request first, which the runtime could take for all of it.
        if (!stream.destroyed) addAbortSignal(AbortSignal.abort(), stream)
      },
      doubtConnection: () => this.doubt(),
    }
  }

  private request(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    try {
      return this.session.request(headers, { endStream })
    } catch (cause) {
      const why = messageOf(cause)
      throw keelsonError('request.invalid', `forward the metadata of the call: ${why}`, {}, cause)
    }
  }

  private ended(wasReset: boolean): void {
    this.calls -= 1
    if (this.calls === 0) this.session.unref()
    this.window.adjust(this.calls)
    if (wasReset && this.budget.spend() !== 'not yet') this.isRetired = true
    this.closeIfUnused()
  }

  private retire(): void {
    this.isRetired = true
    this.closeIfUnused()
  }

  /**
   * A slow call, or a dead connection: nghttp2 reads nothing more after some malformed frames and reports no error. One ping
   * shows it; Go's servers end connections that ping more often.
   */
  private doubt(): void {
    this.retire()
    if (this.isDoubted || this.session.destroyed) return
    this.isDoubted = true
    const end = this.endAfterSilence()
    this.session.ping(() => clearTimeout(end))
  }

  private endAfterSilence(): NodeJS.Timeout {
    const end = setTimeout(() => this.destroy(), this.silenceMs)
    end.unref()
    this.session.once('close', () => clearTimeout(end))
    return end
  }

  /** Not before the last call: after GOAWAY some servers refuse calls that they have not begun. */
  private closeIfUnused(): void {
    if (!this.isRetired || this.calls > 0 || this.session.closed) return
    this.session.close()
    this.endAfterSilence()
  }
}

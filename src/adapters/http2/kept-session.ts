// Sessions that Node frees after their streams. Node (20 to 26) ends the process with an assertion (current_nghttp2_memory_)
// when it frees a session while a stream of it still has fields of a header block that did not end: a peer that breaks off
// there, or breaks a rule there, could end us. A connection that ends gives up both at once, but the stream is freed at
// the end of this turn of the loop, or collected later if bytes of it were still on the way; the session is collected at any
// time, also before that.
import { createHook } from 'node:async_hooks'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type Http2Server,
  type Http2Session,
  type Http2Stream,
} from 'node:http2'

/** Node's native object of the session that is being made. Only this shows it; the session itself drops it when it ends. */
let newest: object | undefined
const hook = createHook({
  init(_id, type, _trigger, resource) {
    if (type === 'HTTP2SESSION') newest = resource
  },
})

function begin(): void {
  newest = undefined
  hook.enable()
}

function end(): object | undefined {
  hook.disable()
  const native = newest
  newest = undefined
  return native
}

/** Holds the native session until the stream has been collected, which its own native object does not outlive. */
const kept = new FinalizationRegistry<object>(() => {})

function keepUntilFreed(stream: Http2Stream, session: Http2Session, native: object): void {
  // Not all: what is registered is collected late, and a stream that ended well has no such fields.
  stream.once('close', () => {
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR || session.destroyed) kept.register(stream, native)
  })
}

export interface KeptSession {
  readonly session: ClientHttp2Session
  /** To be told of every stream. */
  keepFor(stream: ClientHttp2Stream): void
}

/** `connect` is given a socket that is connected: else Node makes the native session later, and it is not kept. */
export function keepSession(connect: () => ClientHttp2Session): KeptSession {
  let native: object | undefined
  begin()
  try {
    const session = connect()
    return {
      session,
      keepFor(stream) {
        if (native !== undefined) keepUntilFreed(stream, session, native)
      },
    }
  } finally {
    native = end()
  }
}

/** Node makes the session of a connection in its own listener, between these two. */
export function keepSessionsOf(server: Http2Server): void {
  server.prependListener('connection', begin)
  server.on('session', (session) => {
    const native = end()
    if (native !== undefined) session.on('stream', (stream) => keepUntilFreed(stream, session, native))
  })
}

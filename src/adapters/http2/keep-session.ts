// Sessions that Node frees after their streams. Node (20 to 26) ends the process with an assertion (current_nghttp2_memory_)
// when it frees a session while a stream of it still has fields of a header block that did not end: a peer that breaks off
// there, or breaks a rule there, could end us. A connection that ends gives up both at once, but the stream is freed at
// the end of this turn of the loop, or collected later if bytes of it were still on the way; the session is collected at any
// time, also before that.
import { constants, type Http2Session, type Http2Stream } from 'node:http2'

/** Node's native object of the session, which the session drops when it ends. Undefined: its socket is not connected yet. */
function nativeOf(session: Http2Session): object | undefined {
  const key = Object.getOwnPropertySymbols(session).find((symbol) => symbol.description === 'kHandle')
  const native: unknown = key && Reflect.get(session, key)
  return typeof native === 'object' && native !== null ? native : undefined
}

/** Holds the native session until the stream has been collected, which its own native object does not outlive. */
const kept = new FinalizationRegistry<object>(() => {})

/** For each stream, when it is made. */
export function keepSessionFor(stream: Http2Stream, session: Http2Session): void {
  const native = nativeOf(session)
  if (native === undefined) {
    session.once('connect', () => keepSessionFor(stream, session))
    return
  }
  // Not all: what is registered is collected late, and a stream that was read to its end has no such fields.
  stream.once('close', () => {
    const isWhole = stream.rstCode === constants.NGHTTP2_NO_ERROR && stream.readableEnded
    if (!isWhole || session.destroyed) kept.register(stream, native)
  })
}

// Ends connections whose HTTP/2 is dead while the socket seems alive: after some malformed frames nghttp2 goes deaf without
// a word, and Node then sees neither further frames nor the end of the socket. A ping tells.
import type { ServerHttp2Session } from 'node:http2'

/** A stopped client (a debugger, a suspended machine) keeps its connection this many times the interval. */
const patience = 4
export const defaultLivenessMs = 30_000

export function endWhenDead(session: ServerHttp2Session, everyMs: number): void {
  let unanswered = 0
  const timer = setInterval(() => {
    if (session.destroyed) return
    if (unanswered >= patience) {
      session.destroy()
      return
    }
    unanswered += 1
    session.ping(() => {
      unanswered = 0
    })
  }, everyMs)
  timer.unref()
  session.once('close', () => clearInterval(timer))
}

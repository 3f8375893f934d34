// Keeps the connections of clients healthy: ends those whose HTTP/2 is dead, and sends a client to a new connection before
// the old one has carried too many cancelled calls.
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'

export const defaultLivenessMs = 30_000
/** A stopped client (a debugger, a suspended machine) keeps its connection this many times the interval. */
const maxUnansweredPings = 4

/**
 * After some malformed frames nghttp2 reads nothing more and reports no error, and Node then sees neither further frames nor the end
 * of the socket. An unanswered ping shows it.
 */
export function endWhenDead(session: ServerHttp2Session, everyMs: number): void {
  let unanswered = 0
  const timer = setInterval(() => {
    if (session.destroyed) return
    if (unanswered >= maxUnansweredPings) {
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

/** nghttp2, under every Node server, ends a connection with all its streams after a burst of 1,000 resets; it restores 33 a second. */
const resetsPerSecond = 33
/** From here on a new connection is wanted at the next good moment. */
const replaceSoonAt = 300
/** From here on at once: all streams that may be open can still be cancelled on top. */
const replaceNowAt = 450
/** Streams open at once on one connection. */
export const maxConcurrentStreams = 512

interface ResetBudget {
  /** Counts one cancelled stream, and says when the connection is to be replaced. */
  spend(): 'not yet' | 'soon' | 'now'
}

/** How many cancelled streams one connection may still carry. */
export function createResetBudget(nowMs: () => number = () => performance.now()): ResetBudget {
  let level = 0
  let at = nowMs()
  return {
    spend() {
      const now = nowMs()
      level = Math.max(0, level - ((now - at) / 1000) * resetsPerSecond) + 1
      at = now
      if (level >= replaceNowAt) return 'now'
      return level >= replaceSoonAt ? 'soon' : 'not yet'
    },
  }
}

const pauseMs = 3
/** A timer that is due says nothing while frames wait to be read: reads come between two of these turns. */
const quietTurns = 2

/**
 * Sends GOAWAY in time. Calls in progress end on the old connection. A call that crosses it on the wire is refused as never
 * begun, and gRPC libraries repeat it; we wait for a pause between calls, so that this hardly happens.
 */
export function replaceInTime(session: ServerHttp2Session): void {
  const budget = createResetBudget()
  let isSent = false
  let streams = 0
  let pause: NodeJS.Timeout | undefined
  const sendGoaway = (): void => {
    if (isSent || session.destroyed) return
    isSent = true
    session.goaway(0)
  }
  const sendWhenQuiet = (seen: number, turns: number): void => {
    if (streams !== seen) pause = setTimeout(() => sendWhenQuiet(streams, quietTurns), pauseMs)
    else if (turns === 0) sendGoaway()
    else setImmediate(sendWhenQuiet, seen, turns - 1)
  }
  session.once('close', () => clearTimeout(pause))
  session.on('stream', (stream: ServerHttp2Stream) => {
    streams += 1
    stream.once('close', () => {
      if (isSent || stream.rstCode === 0) return
      const due = budget.spend()
      if (due === 'now') sendGoaway()
      else if (due === 'soon') pause ??= setTimeout(() => sendWhenQuiet(streams, quietTurns), pauseMs)
    })
  })
}

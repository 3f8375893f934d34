// Sends a client to a new connection before the old one has carried too many cancelled calls. Calls under way end on
// the old one. A call that crosses our goodbye on the wire is refused as never begun, and gRPC libraries repeat it; a
// pause between calls is waited for, so that this hardly happens.
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { createResetBudget } from './resets.js'

const pauseMs = 3
/** A timer that is due says nothing while frames wait to be read: reads come between two of these turns. */
const quietTurns = 2

export function farewellInTime(session: ServerHttp2Session): void {
  const budget = createResetBudget()
  let isSaid = false
  let streams = 0
  let pause: NodeJS.Timeout | undefined
  const say = (): void => {
    if (isSaid || session.destroyed) return
    isSaid = true
    session.goaway(0)
  }
  const sayWhenQuiet = (seen: number, turns: number): void => {
    if (streams !== seen) pause = setTimeout(() => sayWhenQuiet(streams, quietTurns), pauseMs)
    else if (turns === 0) say()
    else setImmediate(sayWhenQuiet, seen, turns - 1)
  }
  session.once('close', () => clearTimeout(pause))
  session.on('stream', (stream: ServerHttp2Stream) => {
    streams += 1
    stream.once('close', () => {
      if (isSaid || stream.rstCode === 0) return
      const wear = budget.spend()
      if (wear === 'now') say()
      else if (wear === 'soon') pause ??= setTimeout(() => sayWhenQuiet(streams, quietTurns), pauseMs)
    })
  })
}

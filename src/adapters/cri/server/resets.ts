// How many cancelled streams one HTTP/2 connection may still carry. nghttp2, under every Node server, ends a connection
// with all its streams after a burst of 1,000 resets (33 a second are given back); we move on well before that.

const perSecond = 33
/** From here on a new connection is wanted at the next good moment. */
const soonAt = 300
/** From here on at once: all streams that may be open can still be cancelled on top. */
const nowAt = 450
/** Streams open at once on one connection. */
export const maxConcurrentStreams = 512

export type ResetPressure = 'fine' | 'soon' | 'now'

export interface ResetBudget {
  /** Counts one reset. */
  spend(): ResetPressure
}

export function createResetBudget(nowMs: () => number = () => performance.now()): ResetBudget {
  let level = 0
  let at = nowMs()
  return {
    spend() {
      const now = nowMs()
      level = Math.max(0, level - ((now - at) / 1000) * perSecond) + 1
      at = now
      if (level >= nowAt) return 'now'
      return level >= soonAt ? 'soon' : 'fine'
    },
  }
}

// Long work in pieces, so that requests and timers do not wait for the whole of it.

/** What else waits for the event loop comes first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Many callers, each with a turn of its own, in the order in which they came. */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(nextTurn)
    return last
  }
}

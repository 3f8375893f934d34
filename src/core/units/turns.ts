// Long work in pieces, so that requests and timers do not wait for the whole of it.

/** What else waits for the event loop comes first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The work for each, in order; what else waits for the event loop comes in after so many of them. */
export async function inTurns<T>(all: Iterable<T>, aTurn: number, work: (one: T) => void): Promise<void> {
  let done = 0
  for (const one of all) {
    if (done > 0 && done % aTurn === 0) await nextTurn()
    work(one)
    done++
  }
}

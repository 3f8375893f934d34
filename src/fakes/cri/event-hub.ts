// Events for any number of open GetContainerEvents streams. A stream gets what happens after it was opened.

export interface EventHub<T> {
  emit(event: T): void
  /** Ends when the signal is aborted. */
  subscribe(signal: AbortSignal): AsyncIterable<T>
}

export function createEventHub<T>(): EventHub<T> {
  const wakers = new Set<(event: T) => void>()

  async function* read(queue: T[], state: { wake: () => void }, signal: AbortSignal): AsyncGenerator<T> {
    while (!signal.aborted) {
      const event = queue.shift()
      if (event !== undefined) yield event
      else
        await new Promise<void>((resolve) => {
          state.wake = resolve
        })
    }
  }

  return {
    emit(event) {
      for (const waker of wakers) waker(event)
    },
    subscribe(signal) {
      const queue: T[] = []
      const state = { wake: () => {} }
      const waker = (event: T): void => {
        queue.push(event)
        state.wake()
      }
      // Registered here and not at the first read, so that nothing between the two is lost.
      wakers.add(waker)
      signal.addEventListener('abort', () => {
        wakers.delete(waker)
        state.wake()
      })
      return read(queue, state, signal)
    },
  }
}

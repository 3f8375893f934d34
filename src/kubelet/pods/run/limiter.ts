// Limits concurrency to N. Waiting tasks run in FIFO order and can be aborted.

export interface Limiter {
  /** Rejects with the signal's reason when that comes before the work has begun. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

export function createLimiter(atOnce: number): Limiter {
  let free = atOnce
  const queue = new Set<() => void>()
  const enter = (signal: AbortSignal | undefined): Promise<void> => {
    if (free > 0) {
      free -= 1
      return Promise.resolve()
    }
    // A task that ends hands its place over, so that `free` stays as it is.
    return new Promise<void>((resolve, reject) => {
      const giveUp = (): void => {
        queue.delete(begin)
        reject(signal?.reason)
      }
      const begin = (): void => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      queue.add(begin)
      signal?.addEventListener('abort', giveUp, { once: true })
    })
  }
  const leave = (): void => {
    const [next] = queue
    if (next === undefined) free += 1
    else {
      queue.delete(next)
      next()
    }
  }
  return {
    async run(work, signal) {
      signal?.throwIfAborted()
      await enter(signal)
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

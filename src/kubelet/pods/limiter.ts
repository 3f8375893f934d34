// So many at once and no more; the others wait in the order they came.

export interface Limiter {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createLimiter(atOnce: number): Limiter {
  let free = atOnce
  const queue: (() => void)[] = []
  const enter = async (): Promise<void> => {
    if (free > 0) {
      free -= 1
      return
    }
    // Whoever leaves hands its place over, so that `free` stays as it is.
    await new Promise<void>((resolve) => queue.push(resolve))
  }
  const leave = (): void => {
    const next = queue.shift()
    if (next === undefined) free += 1
    else next()
  }
  return {
    async run(work) {
      await enter()
      try {
        return await work()
      } finally {
        leave()
      }
    },
  }
}

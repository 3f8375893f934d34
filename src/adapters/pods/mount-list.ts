// One read of the kernel's list of mounts for all who ask at a time.

/**
 * The list is long when many pods end at once. Who asks while it is read gets the next read, which begins after the question:
 * a mount that was there is never missed.
 */
export function createMountList(read: () => Promise<string>): () => Promise<string> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<string> | undefined
  const begin = (): Promise<string> => {
    next = undefined
    const reading = read()
    last = reading.catch(() => undefined)
    return reading
  }
  return () => {
    next ??= last.then(begin)
    return next
  }
}

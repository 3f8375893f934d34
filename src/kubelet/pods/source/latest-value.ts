// One value that changes, for one reader that only wants the newest: values in between are skipped.
export class LatestValue<T> {
  private fresh: { readonly value: T } | undefined
  private failure: { readonly error: unknown } | undefined
  private wake: () => void = () => undefined

  set(value: T): void {
    this.fresh = { value }
    this.wake()
  }

  /** The reader gets the error instead of a value. */
  fail(error: unknown): void {
    this.failure ??= { error }
    this.wake()
  }

  async *values(signal: AbortSignal): AsyncGenerator<T, void, undefined> {
    while (!signal.aborted) {
      if (this.failure !== undefined) throw this.failure.error
      const { fresh } = this
      this.fresh = undefined
      if (fresh === undefined) await this.change(signal)
      else yield fresh.value
    }
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end)
        this.wake = () => undefined
        resolve()
      }
      this.wake = end
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
    })
  }
}

// Waiting for systemd's jobs. A job may end before the reply that names it, so the last results are kept.

const REMEMBERED = 256

export class Jobs {
  private readonly waiting = new Map<string, (result: string) => void>()
  private readonly ended = new Map<string, string>()

  /** From the JobRemoved signal. */
  finish(job: string, result: string): void {
    const waiter = this.waiting.get(job)
    if (waiter !== undefined) {
      this.waiting.delete(job)
      waiter(result)
      return
    }
    this.ended.set(job, result)
    const [oldest] = this.ended.keys()
    if (this.ended.size > REMEMBERED && oldest !== undefined) this.ended.delete(oldest)
  }

  /** Its result: `done`, or how it went wrong. */
  wait(job: string, signal: AbortSignal): Promise<string> {
    const known = this.ended.get(job)
    if (known !== undefined) {
      this.ended.delete(job)
      return Promise.resolve(known)
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.waiting.delete(job)
        reject(signal.reason)
      }
      if (signal.aborted) return onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      this.waiting.set(job, (result) => {
        signal.removeEventListener('abort', onAbort)
        resolve(result)
      })
      return undefined
    })
  }
}

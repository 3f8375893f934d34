// The buffers of answers that have gone by. V8 counts each one it has not collected against the old generation, so that a few
// large lists set off a full collection, which costs more than carrying them. They die young: a young one frees them all.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** About half of what makes V8 collect everything. */
export const sweepAfterBytes = 8 * 1024 * 1024

export interface Sweep {
  /** So much has been read from the runtime, and copied. */
  count(bytes: number): void
}

/** Node has no name for it without a flag. Undefined: V8 goes on as it likes, which is only slower. */
export function youngCollection(): (() => void) | undefined {
  setFlagsFromString('--expose-gc')
  const found: unknown = runInNewContext('typeof gc === "function" ? gc : undefined')
  setFlagsFromString('--no-expose-gc')
  if (typeof found !== 'function') return undefined
  return () => void found({ type: 'minor' })
}

export function createSweep(collect: (() => void) | undefined = youngCollection()): Sweep {
  let bytes = 0
  let isDue = false
  const sweep = (): void => {
    isDue = false
    bytes = 0
    collect?.()
  }
  return {
    count(n) {
      bytes += n
      if (bytes < sweepAfterBytes || isDue) return
      isDue = true
      // What was read in this turn goes out first.
      setImmediate(sweep)
    },
  }
}

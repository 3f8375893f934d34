// The buffers that the runtime's bytes are read into. Much of one answer goes to its caller straight out of the buffer it was read
// into, which is used again when the caller's socket has taken it: no copy, and no fresh memory for every read.

/** All that a socket of usual size holds: a list of a thousand containers is two or three reads. */
export const readBytes = 256 * 1024
/** Callers that have stopped reading keep theirs; when all are kept, answers are copied instead. */
export const mostBuffers = 8

/** `isIntact` false: something may still look at the bytes, so that they are never written over. Only the first word counts. */
export type GiveBack = (isIntact: boolean) => void

export interface Lender {
  /** The bytes of this read stay as they are until given back. Undefined: none can be spared. */
  lend(): GiveBack | undefined
}

export interface ReadBuffers extends Lender {
  /** For the next read: the last one again, unless it is lent. */
  next(): Buffer
  /** The last read has been lent. */
  readonly isLent: boolean
}

/** For bytes whose owner wants them back at once. */
export const lendsNothing: Lender = { lend: () => undefined }

interface Slot {
  readonly bytes: Buffer
  loans: number
  isSpoilt: boolean
}

export function createReadBuffers(): ReadBuffers {
  const free: Slot[] = []
  let made = 0
  const make = (): Slot => {
    made += 1
    return { bytes: Buffer.allocUnsafeSlow(readBytes), loans: 0, isSpoilt: false }
  }
  let current = make()

  /** Nobody has it any more. */
  function settle(slot: Slot): void {
    if (slot.isSpoilt) made -= 1
    else free.push(slot)
  }

  return {
    next() {
      if (current.loans === 0 && !current.isSpoilt) return current.bytes
      const last = current
      current = free.pop() ?? make()
      if (last.loans === 0) settle(last)
      return current.bytes
    },
    lend() {
      if (current.loans === 0 && free.length === 0 && made >= mostBuffers) return undefined
      const slot = current
      slot.loans += 1
      let isOut = true
      return (isIntact) => {
        if (!isOut) return
        isOut = false
        slot.loans -= 1
        if (!isIntact) slot.isSpoilt = true
        if (slot.loans === 0 && slot !== current) settle(slot)
      }
    },
    get isLent() {
      return current.loans > 0
    },
  }
}

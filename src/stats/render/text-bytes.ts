// A long text as UTF-8 bytes, encoded piece by piece while it is written. The text of a whole node on the heap would be megabytes of
// garbage with each scrape, and old by the time it is collected.

const encoder = new TextEncoder()
/** Letters that wait for the next piece. */
const PIECE = 4_096

export interface TextBytes {
  add(text: string): void
  /** What was added so far, in order. */
  pieces(): readonly Uint8Array[]
}

export function createTextBytes(): TextBytes {
  const pieces: Uint8Array[] = []
  let waiting = ''
  const encode = (): void => {
    if (waiting !== '') pieces.push(encoder.encode(waiting))
    waiting = ''
  }
  return {
    add(text) {
      waiting += text
      if (waiting.length >= PIECE) encode()
    },
    pieces() {
      encode()
      return pieces
    },
  }
}

export function joinPieces(texts: readonly TextBytes[]): Uint8Array {
  const pieces = texts.flatMap((text) => text.pieces())
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

// A long text as UTF-8 bytes, encoded while it is written, in blocks that are never put together: the text of a whole node is
// megabytes, and a copy of it as one string or one buffer would be as much again with each scrape.

const encoder = new TextEncoder()
/** Letters that wait to be encoded together. */
const PIECE = 4_096
/** Of each text, the next one is four times as large: an answer has some eighty families, most of them short on a small node. */
const FIRST_BLOCK_BYTES = 1_024
const LARGEST_BLOCK_BYTES = 16_384
/** Blocks are cut from larger buffers: some hundred buffers for each answer took a quarter of its time. */
const SLAB_BYTES = 16 * LARGEST_BLOCK_BYTES

let slab = new Uint8Array(0)

function nextBlock(bytes: number): Uint8Array<ArrayBuffer> {
  if (slab.length < bytes) slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  const block = slab.subarray(0, bytes)
  slab = slab.subarray(bytes)
  return block
}

/** One after the other they are the text. No letter is in two of them. */
export type TextPieces = readonly Uint8Array[]

export const decodePieces = (pieces: TextPieces): string => Buffer.concat(pieces).toString('utf8')

export interface TextBytes {
  add(text: string): void
  /** What was added. The text is empty afterwards. */
  take(): TextPieces
}

export function createTextBytes(): TextBytes {
  let pieces: Uint8Array[] = []
  let block = new Uint8Array(0)
  let blockBytes = FIRST_BLOCK_BYTES
  let filled = 0
  let waiting = ''
  const endBlock = (): void => {
    if (filled > 0) pieces.push(block.subarray(0, filled))
    filled = 0
  }
  const encode = (): void => {
    while (waiting !== '') {
      const { read, written } = encoder.encodeInto(waiting, block.subarray(filled))
      filled += written
      waiting = waiting.slice(read)
      if (waiting === '') return
      endBlock()
      block = nextBlock(blockBytes)
      blockBytes = Math.min(4 * blockBytes, LARGEST_BLOCK_BYTES)
    }
  }
  return {
    add(text) {
      waiting += text
      if (waiting.length >= PIECE) encode()
    },
    take() {
      encode()
      endBlock()
      block = new Uint8Array(0)
      blockBytes = FIRST_BLOCK_BYTES
      const taken = pieces
      pieces = []
      return taken
    },
  }
}

// Splits a stream of bytes into lines, whatever the pieces are that it comes in. A line is decoded whole: a piece may end in
// the middle of a letter.

interface LineSplitter {
  /** Lines that ended in this piece, without empty ones. Throws when a line is longer than allowed. */
  push(piece: Buffer): readonly string[]
}

const newline = 0x0a

export function createLineSplitter(maxLineBytes: number): LineSplitter {
  let waiting: Buffer[] = []
  let size = 0
  return {
    push(piece) {
      const lines: string[] = []
      let from = 0
      for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, from)) {
        const line = Buffer.concat([...waiting, piece.subarray(from, end)])
        waiting = []
        size = 0
        from = end + 1
        if (line.length > maxLineBytes) throw tooLong(maxLineBytes)
        const text = line.toString('utf8')
        if (text.trim() !== '') lines.push(text)
      }
      const rest = piece.subarray(from)
      size += rest.length
      if (size > maxLineBytes) throw tooLong(maxLineBytes)
      if (rest.length > 0) waiting.push(rest)
      return lines
    },
  }
}

const tooLong = (maxLineBytes: number): Error => new Error(`a line has more than ${maxLineBytes} bytes`)

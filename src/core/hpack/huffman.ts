// RFC 7541, appendix B. The code is canonical: codes of one length are in order of their symbols, and follow those of the length
// before. So the lengths are the whole table; the last symbol, 256, ends a string and is never sent.
const lengths = [
  ...[13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28],
  ...[28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6],
  ...[6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8],
  ...[7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7],
  ...[7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23],
  ...[24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22],
  ...[23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25],
  ...[26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24],
  ...[20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27],
  ...[27, 27, 27, 26, 30],
]
const endOfString = 256
const longest = 30

const symbols = lengths
  .map((_, symbol) => symbol)
  .sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b)
/** By length: the first code, how many there are, and where their symbols begin. */
const first: number[] = [0]
const count: number[] = [0]
const at: number[] = [0]
for (let length = 1, code = 0, begin = 0; length <= longest; length++) {
  const n = lengths.filter((l) => l === length).length
  first.push(code)
  count.push(n)
  at.push(begin)
  code = (code + n) * 2
  begin += n
}

/** Undefined: no Huffman code. The bytes are given as they are, one character each. */
export function decodeHuffman(bytes: Uint8Array, from: number, to: number): string | undefined {
  let text = ''
  let code = 0
  let length = 0
  for (let i = from; i < to; i++) {
    const byte = bytes[i] ?? 0
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + ((byte >> bit) & 1)
      length += 1
      const nth = code - (first[length] ?? 0)
      if (nth < (count[length] ?? 0)) {
        const symbol = symbols[(at[length] ?? 0) + nth] ?? endOfString
        if (symbol === endOfString) return undefined
        text += String.fromCharCode(symbol)
        code = 0
        length = 0
      } else if (length >= longest) return undefined
    }
  }
  // What fills the last byte is the beginning of the end mark: ones, and less than a byte of them.
  return length < 8 && code === 2 ** length - 1 ? text : undefined
}

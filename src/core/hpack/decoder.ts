// Header blocks of one direction of one HTTP/2 connection (RFC 7541). Each block changes the table that the next one uses, so
// all of them must pass here, in order; after an error the connection cannot go on.
import { decodeHuffman } from './huffman.js'
import { staticEntries, staticTable } from './static-table.js'

export interface Fields {
  /** Names and values in turn; one character for each byte. */
  readonly list: string[]
  /** Names of fields that must never enter a table. */
  readonly sensitive: string[]
}

export interface HpackDecoder {
  /** Throws RangeError: the block is malformed, or longer than allowed when unpacked. */
  decode(block: Uint8Array): Fields
}

const overheadBytes = 32
const largestNumber = 2 ** 28

const broken = (why: string): RangeError => new RangeError(`header block: ${why}`)

class Cursor {
  private at = 0
  constructor(private readonly block: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.at >= this.block.length
  }

  peek(): number {
    return this.block[this.at] ?? 0
  }

  /** An integer whose first part is the lowest `bits` of a byte. */
  number(bits: number): number {
    const most = 2 ** bits - 1
    let value = this.byte() & most
    if (value < most) return value
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte()
      value += (byte & 127) * factor
      if (value > largestNumber) throw broken('a number is too large')
      if (byte < 128) return value
    }
  }

  text(): string {
    const isHuffman = this.peek() >= 128
    const length = this.number(7)
    const from = this.at
    this.at += length
    if (this.at > this.block.length) throw broken('it ends in the middle of a string')
    if (!isHuffman) return latin1(this.block, from, this.at)
    const text = decodeHuffman(this.block, from, this.at)
    if (text === undefined) throw broken('a string is no Huffman code')
    return text
  }

  private byte(): number {
    const byte = this.block[this.at]
    if (byte === undefined) throw broken('it ends in the middle of a field')
    this.at += 1
    return byte
  }
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let i = from; i < to; i++) text += String.fromCharCode(bytes[i] ?? 0)
  return text
}

/** `maxTableBytes`: as we announced it. `maxListBytes` bounds what one block may become. */
export function createHpackDecoder(maxTableBytes: number, maxListBytes: number): HpackDecoder {
  /** Newest first; names and values in turn. */
  const table: string[] = []
  let tableBytes = 0
  let limit = maxTableBytes

  const shrink = (to: number): void => {
    while (tableBytes > to) {
      const value = table.pop() ?? ''
      const name = table.pop() ?? ''
      tableBytes -= name.length + value.length + overheadBytes
    }
  }
  const keep = (name: string, value: string): void => {
    const bytes = name.length + value.length + overheadBytes
    shrink(Math.max(0, limit - bytes))
    if (bytes > limit) return
    table.unshift(name, value)
    tableBytes += bytes
  }
  const lookUp = (index: number, part: 0 | 1): string => {
    const found =
      index <= staticEntries
        ? staticTable[2 * (index - 1) + part]
        : table[2 * (index - 1 - staticEntries) + part]
    if (found === undefined) throw broken(`there is no field ${index}`)
    return found
  }

  return {
    decode(block) {
      const cursor = new Cursor(block)
      const list: string[] = []
      const sensitive: string[] = []
      let bytes = 0
      const add = (name: string, value: string): void => {
        bytes += name.length + value.length + overheadBytes
        if (bytes > maxListBytes) throw broken(`it is longer than ${maxListBytes} bytes`)
        list.push(name, value)
      }
      while (!cursor.isAtEnd) {
        const kind = cursor.peek()
        if (kind >= 128) {
          const index = cursor.number(7)
          add(lookUp(index, 0), lookUp(index, 1))
        } else if (kind >= 64) {
          const index = cursor.number(6)
          const name = index === 0 ? cursor.text() : lookUp(index, 0)
          const value = cursor.text()
          add(name, value)
          keep(name, value)
        } else if (kind >= 32) {
          if (list.length > 0) throw broken('the table changes its size after the first field')
          limit = cursor.number(5)
          if (limit > maxTableBytes) throw broken(`a table of ${limit} bytes was not agreed`)
          shrink(limit)
        } else {
          const index = cursor.number(4)
          const name = index === 0 ? cursor.text() : lookUp(index, 0)
          add(name, cursor.text())
          if (kind >= 16) sensitive.push(name)
        }
      }
      return { list, sensitive }
    },
  }
}

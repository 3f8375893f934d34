// Header fields written so that no table is needed to read them (RFC 7541, literals without indexing). Some hundred bytes more
// than with tables, to a peer on the same machine, and nothing to keep in step.
import { staticIndexOf, staticTable } from './static-table.js'

/** A number's first byte, its continuation, and the same for a string's length. */
const mostPerField = 1 + 5 + 5 + 5
const literal = 0x00
const neverIndexed = 0x10
const indexed = 0x80

function putNumber(out: Uint8Array, at: number, value: number, bits: number, mark: number): number {
  const most = 2 ** bits - 1
  let next = at
  if (value < most) {
    out[next++] = mark | value
    return next
  }
  out[next++] = mark | most
  let rest = value - most
  for (; rest >= 128; rest = Math.floor(rest / 128)) out[next++] = (rest % 128) | 128
  out[next++] = rest
  return next
}

function putText(out: Uint8Array, at: number, text: string): number {
  let next = putNumber(out, at, text.length, 7, 0)
  for (let i = 0; i < text.length; i++) out[next++] = text.charCodeAt(i) & 255
  return next
}

/** `list`: names and values in turn, one character for each byte. */
export function encodeFields(list: readonly string[], sensitive?: ReadonlySet<string>): Uint8Array {
  let size = 0
  for (const text of list) size += text.length
  const out = new Uint8Array(size + (list.length / 2) * mostPerField)
  let at = 0
  for (let i = 0; i + 1 < list.length; i += 2) {
    const name = list[i] ?? ''
    const value = list[i + 1] ?? ''
    const index = staticIndexOf.get(name) ?? 0
    if (index > 0 && sensitive === undefined && value !== '') {
      const whole = staticMatch(index, name, value)
      if (whole > 0) {
        at = putNumber(out, at, whole, 7, indexed)
        continue
      }
    }
    at = putNumber(out, at, index, 4, sensitive?.has(name) ? neverIndexed : literal)
    if (index === 0) at = putText(out, at, name)
    at = putText(out, at, value)
  }
  return out.subarray(0, at)
}

/** The number of exactly this field, or 0: names that stand there several times stand together. */
function staticMatch(index: number, name: string, value: string): number {
  for (let i = index; staticTable[2 * (i - 1)] === name; i++) if (staticTable[2 * i - 1] === value) return i
  return 0
}

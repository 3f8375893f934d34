// Flat keyed files (`key value` a line: memory.stat, memory.events, cpu.stat). A sweep wants a few keys of many,
// so a parser is made once for its keys and then touches each byte once.
import { parseDigits } from './digits.js'
import { decodeText, splitLines } from './words.js'

const SPACE = 32
const NEWLINE = 10

type FlatKeyed<K extends string> = { readonly [key in K]: bigint | undefined }
type FlatKeyedParser<K extends string> = (text: Uint8Array) => FlatKeyed<K>

interface WantedKey {
  readonly name: string
  readonly bytes: readonly number[]
}

/** Buckets by length and a simple hash of the key; a candidate is then compared byte by byte. */
const BUCKETS = 256

const bucketOf = (hash: number): number => hash & (BUCKETS - 1)

function buckets(keys: readonly string[]): (WantedKey[] | undefined)[] {
  const table = new Array<WantedKey[] | undefined>(BUCKETS).fill(undefined)
  for (const name of keys) {
    const bytes = [...new TextEncoder().encode(name)]
    const bucket = bucketOf(bytes.reduce((hash, byte) => (hash * 31 + byte) | 0, 0))
    const list = table[bucket] ?? []
    list.push({ name, bytes })
    table[bucket] = list
  }
  return table
}

function findKey(
  list: readonly WantedKey[],
  text: Uint8Array,
  start: number,
  end: number,
): string | undefined {
  for (const key of list) {
    const { bytes } = key
    if (bytes.length !== end - start) continue
    let i = 0
    while (i < bytes.length && bytes[i] === text[start + i]) i++
    if (i === bytes.length) return key.name
  }
  return undefined
}

/** Keys that the text does not have, or that hold no number, are undefined. */
export function createFlatKeyedParser<K extends string>(keys: readonly K[]): FlatKeyedParser<K> {
  const table = buckets(keys)
  // One shape for every result: the engine then keeps the fields at fixed places.
  const empty = Object.fromEntries(keys.map((key) => [key, undefined])) as Record<string, bigint | undefined>
  return (text) => {
    const values = { ...empty }
    const length = text.length
    let missing = keys.length
    let at = 0
    while (at < length && missing > 0) {
      const start = at
      let hash = 0
      let byte = 0
      while (at < length) {
        byte = text[at] as number
        if (byte === SPACE || byte === NEWLINE) break
        hash = (hash * 31 + byte) | 0
        at++
      }
      const list = table[bucketOf(hash)]
      const key = list === undefined || byte !== SPACE ? undefined : findKey(list, text, start, at)
      const valueStart = at + 1
      while (at < length && text[at] !== NEWLINE) at++
      if (key !== undefined && values[key] === undefined) {
        values[key] = parseDigits(text, valueStart, at)
        missing--
      }
      at++
    }
    return values as FlatKeyed<K>
  }
}

/** Every key of the text, for files that are read rarely. Values that are no plain number are dropped. */
export function parseFlatKeyed(text: Uint8Array): ReadonlyMap<string, bigint> {
  const values = new Map<string, bigint>()
  for (const line of splitLines(decodeText(text))) {
    const [key = '', value = ''] = line.split(' ')
    if (/^\d+$/.test(value)) values.set(key, BigInt(value))
  }
  return values
}

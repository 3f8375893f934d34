// Values made once for each sample and shared by all requests until the next one.
import type { TextPieces } from './render/text-bytes.js'

/** The body is made again when an input is no longer the same object or number, or when it could not be made. */
export function memoizeBody<I extends readonly unknown[]>(
  make: (...inputs: I) => Promise<TextPieces>,
): (...inputs: I) => Promise<TextPieces> {
  let last: { readonly inputs: I; readonly body: Promise<TextPieces> } | undefined
  return async (...inputs) => {
    const isSame =
      last?.inputs.length === inputs.length && last.inputs.every((input, i) => input === inputs[i])
    const used = last !== undefined && isSame ? last : { inputs, body: make(...inputs) }
    last = used
    try {
      return await used.body
    } catch (e) {
      if (last === used) last = undefined
      throw e
    }
  }
}

/** One value for as long as the sample lives: bodies are compared by the identity of their inputs. */
export function memoizePerSample<S extends object, V>(make: (sample: S) => V): (sample: S) => V {
  const made = new WeakMap<S, V>()
  return (sample) => {
    const known = made.get(sample)
    if (known !== undefined) return known
    const value = make(sample)
    made.set(sample, value)
    return value
  }
}

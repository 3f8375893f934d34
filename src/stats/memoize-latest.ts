// Encoded answers, made once for each sample and shared by everybody who asks meanwhile.

const encoder = new TextEncoder()

/** `parts` are compared by identity: an answer is made again when one of them is another one. */
export function createSharedAnswer<P extends readonly unknown[]>(
  make: (...parts: P) => string,
): (...parts: P) => Uint8Array {
  let last: { readonly parts: P; readonly body: Uint8Array } | undefined
  return (...parts) => {
    const same = last?.parts.length === parts.length && last.parts.every((part, i) => part === parts[i])
    if (last === undefined || !same) last = { parts, body: encoder.encode(make(...parts)) }
    return last.body
  }
}

/** What is made of a sample, made once for as long as the sample lives: identity decides whether an answer is made again. */
export function createPerSample<S extends object, V>(make: (sample: S) => V): (sample: S) => V {
  const made = new WeakMap<S, V>()
  return (sample) => {
    const known = made.get(sample)
    if (known !== undefined) return known
    const value = make(sample)
    made.set(sample, value)
    return value
  }
}

// Files of variables (fileKeyRef): `NAME='value'` lines, where a value may span lines and nothing inside it is expanded.

const blanks = /^[ \t]+/

/** The value; empty where the file does not have the name. Undefined: the file is not of this form up to that place. */
export function envFileValue(text: string, key: string): string | undefined {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  for (let i = 0; i < lines.length; i += 1) {
    const line = (lines[i] ?? '').replace(blanks, '')
    if (line === '' || line.startsWith('#')) continue
    const equals = line.indexOf('=')
    const name = line.slice(0, Math.max(0, equals))
    if (name === '' || /[ \t]$/.test(name)) return undefined
    let rest = line.slice(equals + 1)
    if (blanks.test(rest)) {
      // As a shell reads it: an empty value, and a word of its own after it.
      if (name === key) return ''
      continue
    }
    if (!rest.startsWith("'")) return undefined
    rest = rest.slice(1)
    const parts: string[] = []
    while (!rest.includes("'")) {
      parts.push(rest)
      i += 1
      const next = lines[i]
      if (next === undefined) return undefined
      rest = next
    }
    const end = rest.indexOf("'")
    const after = rest.slice(end + 1).replace(blanks, '')
    if (after !== '' && !after.startsWith('#')) return undefined
    if (name === key) return [...parts, rest.slice(0, end)].join('\n')
  }
  return ''
}

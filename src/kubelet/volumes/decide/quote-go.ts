// Text in quotes as Go writes it: programs in containers read the downward API with Go's rules.

const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** `a "b"` -> `"a \"b\""` */
export function quoteGo(text: string): string {
  let quoted = ''
  for (const char of text)
    quoted += short[char] ?? (isPrintable(char) ? char : escaped(char.codePointAt(0) ?? 0))
  return `"${quoted}"`
}

/** Letters, marks, numbers, punctuation, symbols and the plain blank. */
const isPrintable = (char: string): boolean => char === ' ' || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char)

function escaped(code: number): string {
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0')
  if (code < 0x80) return `\\x${hex(2)}`
  return code < 0x1_00_00 ? `\\u${hex(4)}` : `\\U${hex(8)}`
}

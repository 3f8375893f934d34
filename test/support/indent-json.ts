// Indents JSON text without reading its numbers, so that a golden shows every digit of a counter above 2^53.

export function indentJson(json: string): string {
  let out = ''
  let depth = 0
  let inText = false
  const line = (): string => `\n${'  '.repeat(depth)}`
  for (let i = 0; i < json.length; i++) {
    const c = json.charAt(i)
    if (c === '"' && json.charAt(i - 1) !== '\\') inText = !inText
    if (inText || c === '"') out += c
    else if ((c === '{' && json.charAt(i + 1) === '}') || (c === '[' && json.charAt(i + 1) === ']'))
      out += c + json.charAt(++i)
    else if (c === '{' || c === '[') {
      depth++
      out += c + line()
    } else if (c === '}' || c === ']') {
      depth--
      out += line() + c
    } else if (c === ',') out += c + line()
    else if (c === ':') out += ': '
    else out += c
  }
  return `${out}\n`
}

// References in values, commands and arguments: `$(NAME)`.

/** `$(A)` is the value of A where it is known and stays as it is where not; `$$(A)` is the text `$(A)`. */
export function expandReferences(text: string, lookUp: (name: string) => string | undefined): string {
  let result = ''
  for (let i = 0; i < text.length; i += 1) {
    if (text[i] !== '$') {
      result += text[i]
      continue
    }
    if (text[i + 1] === '$') {
      result += '$'
      i += 1
      continue
    }
    const end = text[i + 1] === '(' ? text.indexOf(')', i + 2) : -1
    const value = end < 0 ? undefined : lookUp(text.slice(i + 2, end))
    if (end < 0) result += '$'
    else {
      result += value ?? text.slice(i, end + 1)
      i = end
    }
  }
  return result
}

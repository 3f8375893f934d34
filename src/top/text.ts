// Text in a grid of cells: nothing from outside may move the cursor, and a wide character takes two cells.

/** Control characters, escape sequences first, as a log line may hold them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is removed
const escapes = /\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b./g
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
const combining = /\p{Mn}|\p{Me}|\p{Cf}/u

export const plain = (text: string): string =>
  text
    .replace(escapes, '')
    .replace(/\t/g, '  ')
    .replace(/\p{Cc}/gu, '·')

const cellsOf = (character: string): number => (combining.test(character) ? 0 : wide.test(character) ? 2 : 1)

/** Only ASCII is quick to measure, and nearly everything is. */
const isAscii = (text: string): boolean => !/[^\x20-\x7e]/.test(text)

export const widthOf = (text: string): number =>
  isAscii(text) ? text.length : [...text].reduce((sum, c) => sum + cellsOf(c), 0)

/** At most so many cells; what was cut ends with an ellipsis. */
export function clip(text: string, width: number): string {
  if (width <= 0) return ''
  if (widthOf(text) <= width) return text
  let out = ''
  let used = 0
  for (const c of text) {
    const cells = cellsOf(c)
    if (used + cells > width - 1) break
    out += c
    used += cells
  }
  return `${out}…`
}

export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const clipped = clip(text, width)
  const blanks = ' '.repeat(Math.max(0, width - widthOf(clipped)))
  return align === 'left' ? clipped + blanks : blanks + clipped
}

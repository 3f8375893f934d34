// How help looks: paragraphs in lines of the terminal's width, commands to copy left whole, and a long option on a
// separate line, so that the column for the text stays wide enough.
import { Help, type HelpConfiguration } from 'commander'

/** The widest option that still has its text beside it: room for `--container-runtime-endpoint <url>`. */
const widestTerm = 35

/** Lines of a paragraph become one; what is indented stays as it is written. */
function joinParagraphs(text: string): string {
  const joined: string[] = []
  for (const line of text.split('\n')) {
    const before = joined.at(-1)
    const continues = before !== undefined && !isKept(before) && !isKept(line)
    if (continues) joined[joined.length - 1] = `${before} ${line}`
    else joined.push(line)
  }
  return joined.join('\n')
}

const isKept = (line: string): boolean => line === '' || /^\s/.test(line)

export const helpLayout: HelpConfiguration = {
  commandDescription: (command) => joinParagraphs(command.description()),
  /** A list that may stay empty has no default worth printing. */
  optionDescription(option) {
    const isEmptyList = Array.isArray(option.defaultValue) && option.defaultValue.length === 0
    return isEmptyList ? option.description : Help.prototype.optionDescription.call(this, option)
  },
  boxWrap(text, width) {
    const wrap = (line: string): string => Help.prototype.boxWrap.call(this, line, width)
    return text
      .split('\n')
      .map((line) => (/^\s/.test(line) ? line : wrap(line)))
      .join('\n')
  },
  padWidth(command, helper) {
    return Math.min(Help.prototype.padWidth.call(this, command, helper), widestTerm)
  },
  formatItem(term, termWidth, description, helper) {
    const item = (name: string): string =>
      Help.prototype.formatItem.call(this, name, termWidth, description, helper)
    if (helper.displayWidth(term) <= termWidth || description === '') return item(term)
    return `  ${term}\n${item('')}`
  },
}

/** Words in lines of at most this width; a longer one has a separate line. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

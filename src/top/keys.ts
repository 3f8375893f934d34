// Bytes of a terminal as names of keys.

const named: Readonly<Record<string, string>> = {
  '\x1b[A': 'up',
  '\x1b[B': 'down',
  '\x1bOA': 'up',
  '\x1bOB': 'down',
  '\x1b[5~': 'page-up',
  '\x1b[6~': 'page-down',
  '\x1b[H': 'home',
  '\x1b[F': 'end',
  '\x1b[1~': 'home',
  '\x1b[4~': 'end',
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'ctrl-c',
  '\x15': 'ctrl-u',
  '\x1b': 'escape',
  '\t': 'tab',
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal sends
const pattern = /\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|[\s\S]/gu

/** `\x1b[Aq` -> ['up', 'q']. Sequences without a name are dropped. */
export const parseKeys = (text: string): string[] =>
  [...text.matchAll(pattern)].flatMap(([key]) => {
    const name = named[key]
    if (name !== undefined) return [name]
    return key.length > 2 || key < ' ' ? [] : [key]
  })

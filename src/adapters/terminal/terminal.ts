// The terminal of this process: raw keys and the alternate screen, both undone by close().
import type { ReadStream, WriteStream } from 'node:tty'
import type { Terminal } from '../../ports/terminal.js'

const enter = '\x1b[?1049h\x1b[?25l'
const leave = '\x1b[?25h\x1b[?1049l'

export function openTerminal(input: ReadStream, output: WriteStream): Terminal {
  input.setRawMode(true)
  input.setEncoding('utf8')
  input.resume()
  output.write(enter)
  let isOpen = true
  return {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    write: (text) => {
      if (isOpen) output.write(text)
    },
    onResize(listener) {
      output.on('resize', listener)
      return () => output.off('resize', listener)
    },
    onInput(listener) {
      input.on('data', listener)
      return () => input.off('data', listener)
    },
    close() {
      if (!isOpen) return
      isOpen = false
      output.write(leave)
      input.setRawMode(false)
      input.pause()
    },
  }
}

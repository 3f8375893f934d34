// What the program inside a cluster says, line by line, and when it says that the node is ready.
import type { UnitContext } from '../unit.js'
import { readyLine } from './plan.js'

/** Resolves when the program inside has said that the node is ready. */
export function watchOutput(note: UnitContext['note']): {
  onOutput(text: string): void
  ready: Promise<void>
} {
  let rest = ''
  let tell = (): void => {}
  const ready = new Promise<void>((resolve) => {
    tell = resolve
  })
  const onOutput = (text: string): void => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      note(line)
      if (line.startsWith(readyLine)) tell()
    }
  }
  return { onOutput, ready }
}

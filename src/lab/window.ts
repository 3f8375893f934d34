// The size of the terminal that a lab shell is used from, on its way into the machine. Each change is a new file:
// the file systems that host and machine share keep what they have read, but never a name that was not there yet.
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface WindowSize {
  readonly rows: number
  readonly columns: number
}

/** Of the n-th change, counted from 1; the guest looks for them one after the other. */
export const windowFile = (runDir: string, n: number | string): string => join(runDir, `window-${n}`)

export interface WindowSizes {
  put(size: WindowSize): void
  /** Called with the newest size if there is one, and with each that comes. */
  follow(listener: (size: WindowSize) => void): () => void
}

/** A size that comes while the machine is still being prepared must not be lost. */
export function createWindowSizes(): WindowSizes {
  const listeners = new Set<(size: WindowSize) => void>()
  let newest: WindowSize | undefined
  return {
    put(size) {
      newest = size
      for (const listener of listeners) listener(size)
    },
    follow(listener) {
      listeners.add(listener)
      if (newest !== undefined) listener(newest)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

/** Writes the files in order, each complete before it has its name. Returns how to stop; resolves when nothing is written any more. */
export function writeWindowSizes(sizes: WindowSizes, runDir: string): () => Promise<void> {
  let written = Promise.resolve()
  let count = 0
  const stop = sizes.follow(({ rows, columns }) => {
    const file = windowFile(runDir, ++count)
    written = written
      .then(() => writeFile(`${file}.new`, `${rows} ${columns}\n`))
      .then(() => rename(`${file}.new`, file))
      // The machine has ended and its directory is gone: the size is not needed any more.
      .catch(() => undefined)
  })
  return async () => {
    stop()
    await written
  }
}

const isSide = (n: unknown): n is number => Number.isInteger(n) && (n as number) > 0 && (n as number) < 10_000

/** A line of the channel to the supervisor. Undefined: no size that a terminal has. */
export function parseWindowSize(line: string): WindowSize | undefined {
  const { rows, columns } = JSON.parse(line) as { readonly rows?: unknown; readonly columns?: unknown }
  return isSide(rows) && isSide(columns) ? { rows, columns } : undefined
}

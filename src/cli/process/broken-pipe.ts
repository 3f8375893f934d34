// `keelson ... | head`, or a closed terminal: the reader of the output may leave early. The command then stops as on
// SIGTERM, so that commands with a SIGTERM handler clean up.
import { asKeelsonError } from '../../core/errors.js'
import { systemError } from '../system-error.js'

interface Output {
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  listenerCount(event: 'error'): number
}

export interface Streams {
  readonly outputs: readonly Output[]
  /** `waits`: a SIGTERM handler is set. `under-way`: it has run and is ending the command. `none`: there never was one. */
  orderlyEnd(): 'waits' | 'under-way' | 'none'
  endInOrder(): void
  endNow(status: number): void
  /** The output fails for another reason: say so where it can still be read, and end. */
  failWith(error: Error): void
}

/** What a shell shows for a process that SIGPIPE ended. */
const brokenPipeStatus = 141
/** A pipe without a reader, and a terminal that has gone. */
const gone = new Set(['EPIPE', 'EIO'])

export function endOnBrokenPipe({ outputs, orderlyEnd, endInOrder, endNow, failWith }: Streams): void {
  let isEnding = false
  const onError = (output: Output, error: NodeJS.ErrnoException): void => {
    if (!gone.has(error.code ?? '')) {
      // A full disk behind a redirection, for example. A command that listens itself knows better.
      if (output.listenerCount('error') === 1) failWith(error)
      return
    }
    // What is still written on the way out fails like the first line.
    if (isEnding) return
    isEnding = true
    const end = orderlyEnd()
    if (end === 'waits') endInOrder()
    else if (end === 'none') endNow(brokenPipeStatus)
  }
  for (const output of outputs) output.on('error', (error) => onError(output, error))
}

export function processStreams(): Streams {
  let hasListened = false
  process.on('newListener', (event) => {
    if (event === 'SIGTERM') hasListened = true
  })
  return {
    outputs: [process.stdout, process.stderr],
    orderlyEnd: () => (process.listenerCount('SIGTERM') > 0 ? 'waits' : hasListened ? 'under-way' : 'none'),
    endInOrder: () => void process.kill(process.pid, 'SIGTERM'),
    endNow: (status) => process.exit(status),
    failWith(error) {
      const shown = systemError(error) ?? asKeelsonError(error)
      process.stderr.write(`keelson: cannot write the output: ${shown.message} [${shown.code}]\n`)
      process.exit(1)
    },
  }
}

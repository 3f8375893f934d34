// `keelson ... | head`: the reader of our output may leave before we are done. Nobody sees what would follow, so a
// command then ends as if it had been told to: those that listen for SIGTERM put their things in order first.

export interface Streams {
  readonly outputs: readonly {
    on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): unknown
  }[]
  /** Whether somebody waits for SIGTERM, and so will end in order. */
  hasOrderlyEnd(): boolean
  endInOrder(): void
  endNow(status: number): void
}

/** What a shell shows for a process that SIGPIPE ended. */
const brokenPipeStatus = 141

export function endOnBrokenPipe({ outputs, hasOrderlyEnd, endInOrder, endNow }: Streams): void {
  let isEnding = false
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error
    // What is still written on the way out fails like the first line.
    if (isEnding) return
    isEnding = true
    if (hasOrderlyEnd()) endInOrder()
    else endNow(brokenPipeStatus)
  }
  for (const output of outputs) output.on('error', onError)
}

export const processStreams = (): Streams => ({
  outputs: [process.stdout, process.stderr],
  hasOrderlyEnd: () => process.listenerCount('SIGTERM') > 0,
  endInOrder: () => void process.kill(process.pid, 'SIGTERM'),
  endNow: (status) => process.exit(status),
})

// The machine's end of a forwarded port: opens a connection to a local port for each that comes over the line.
import { createWriteStream, openSync } from 'node:fs'
import { connect } from 'node:net'
import { ReadStream } from 'node:tty'
import { createMux } from './mux.js'

/** The third serial line of the UML machines; the first two are the command's output. */
export const forwardLine = '/dev/ttyS2'

export function forwardToPort(port: number): void {
  // Not a file stream: its read blocks a thread, which this process would wait for when it ends.
  const line = new ReadStream(openSync(forwardLine, 'r'))
  createMux({ in: line, out: createWriteStream(forwardLine) }, () =>
    connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
  )
}

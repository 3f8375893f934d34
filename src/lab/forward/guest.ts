// The machine's end of a forwarded port: opens a connection to a local port for each that comes over the line.
import { createReadStream, createWriteStream } from 'node:fs'
import { connect } from 'node:net'
import { createMux } from './mux.js'

/** The third serial line of the UML beds; the first two are the command's output. */
export const forwardLine = '/dev/ttyS2'

export function forwardToPort(port: number): void {
  createMux({ in: createReadStream(forwardLine), out: createWriteStream(forwardLine) }, () =>
    connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
  )
}

// How much of the runtime's connection is read in one turn of the loop. Node reads a socket until it is empty, up to 2 MiB, and
// writes to others only then: a list would be taken in whole before its caller has the first byte, and smaller calls would wait.
import { connect, type Socket } from 'node:net'
import { createReadBuffers, type ReadBuffers, readBytes } from './proxy-buffers.js'

/** `onBytes` has the bytes during the call, and longer if it borrows them. After a read that filled its buffer, reading goes on in
 *  the next turn, when everybody's answers have gone out. */
export function connectInTurns(path: string, onBytes: (bytes: Buffer, from: ReadBuffers) => void): Socket {
  const buffers = createReadBuffers()
  let buffer = buffers.next()
  const socket = connect({
    path,
    onread: {
      // Asked for at the beginning and after each read.
      buffer: () => {
        buffer = buffers.next()
        return buffer
      },
      callback: (n) => {
        onBytes(buffer.subarray(0, n), buffers)
        if (n < readBytes) return true
        setImmediate(() => {
          if (!socket.destroyed) socket.resume()
        })
        return false
      },
    },
  })
  return socket
}

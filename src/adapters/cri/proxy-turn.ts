// How much of the runtime's connection is read in one turn of the loop. Node reads a socket until it is empty, up to 2 MiB, and
// writes to others only then: a list would be taken in whole before its caller has the first byte, and smaller calls would wait.
import { connect, type Socket } from 'node:net'

/** All that a socket of usual size holds: a list of a thousand containers is two or three turns. */
export const turnBytes = 256 * 1024

/**
 * One buffer for all reads: `onBytes` has them only during the call. After a read that filled it, reading goes on in the
 * next turn, when everybody's answers have gone out.
 */
export function connectInTurns(path: string, onBytes: (bytes: Buffer) => void): Socket {
  const buffer = Buffer.allocUnsafeSlow(turnBytes)
  const socket = connect({
    path,
    onread: {
      buffer,
      callback: (n) => {
        onBytes(buffer.subarray(0, n))
        if (n < turnBytes) return true
        setImmediate(() => {
          if (!socket.destroyed) socket.resume()
        })
        return false
      },
    },
  })
  return socket
}

// How much of the runtime's connection is read in one turn of the loop. Node reads a socket until it is empty, up to 2 MiB, and
// writes to others only then: a list would be taken in whole before its caller has the first byte, and smaller calls would wait.
import { connect, type Socket } from 'node:net'

/** What Node reads at once is 64 KiB with the headers of the frames: this is passed by its last frame. */
export const turnBytes = 56 * 1024

/**
 * With `onread` pause() and resume() reach the handle, also while HTTP/2 reads from it. The buffer stays unused as long as
 * the session is made in the turn in which the socket is connected.
 */
export const connectPausable = (path: string): Socket =>
  connect({ path, onread: { buffer: Buffer.alloc(1), callback: () => true } })

/** Counts what came. Reading goes on in the next turn, when everybody's answers have gone out. */
export function createTurn(socket: Socket): (bytes: number) => void {
  let bytes = 0
  const goOn = (): void => {
    bytes = 0
    if (!socket.destroyed) socket.resume()
  }
  return (n) => {
    const before = bytes
    bytes += n
    if (before >= turnBytes || bytes < turnBytes) return
    socket.pause()
    setImmediate(goOn)
  }
}

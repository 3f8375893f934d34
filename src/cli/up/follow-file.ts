// Copies what is written to a file as it grows.
import { open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const chunkBytes = 64 * 1024
const pollMs = 200

interface FollowOptions {
  /** Where to begin, in bytes. */
  readonly from: number
  /** Asked before each look; after it the rest of the file is copied and the following ends. */
  readonly isOver: () => boolean
}

export async function followFile(
  path: string,
  write: (text: string) => unknown,
  { from, isOver }: FollowOptions,
): Promise<void> {
  const file = await open(path, 'r')
  const decoder = new TextDecoder()
  const buffer = Buffer.alloc(chunkBytes)
  let position = from
  try {
    for (;;) {
      const last = isOver()
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, chunkBytes, position)
        if (bytesRead === 0) break
        position += bytesRead
        write(decoder.decode(buffer.subarray(0, bytesRead), { stream: true }))
      }
      if (last) return
      await sleep(pollMs)
    }
  } finally {
    await file.close()
  }
}

/** Where the last lines of a file begin; looks at no more than its last MiB. */
export async function lastLinesStart(path: string, lines: number): Promise<number> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const start = Math.max(0, size - 1024 * 1024)
    const buffer = Buffer.alloc(size - start)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
    // The newline that ends the last line begins no other.
    let at = bytesRead - 1
    for (let n = 0; n < lines && at > 0; n++) at = buffer.lastIndexOf(10, at - 1)
    return at <= 0 ? start : start + at + 1
  } finally {
    await file.close()
  }
}

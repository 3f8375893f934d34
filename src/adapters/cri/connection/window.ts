// How much the runtime may send ahead of a slow reader, per stream: much while few calls are in progress, so that a large list
// comes in one go; little while many are, because each of their readers may stop and this is then held for it.
import type { ClientHttp2Session } from 'node:http2'

const KiB = 1024

/** Up to so many calls, so large a window: 32 MiB in all up to 512 calls. */
const table: readonly (readonly [calls: number, window: number])[] = [
  [8, 4096 * KiB],
  [32, 1024 * KiB],
  [128, 256 * KiB],
  [256, 64 * KiB],
  [Number.POSITIVE_INFINITY, 32 * KiB],
]

export const firstWindowBytes = 4096 * KiB

const windowFor = (calls: number): number =>
  table.find(([most]) => calls <= most)?.[1] ?? table.at(-1)?.[1] ?? firstWindowBytes

/** Of what the runtime has sent, this part may wait in a caller's stream; the rest waits before it, and stops the runtime. */
const partAhead = 8

export interface StreamWindow {
  /**
   * How much may wait in one caller's stream before we stop reading for it. Node's own mark of 16 KiB is one frame, and
   * a large list would go frame by frame, each waiting until the socket has taken the one before.
   */
  readonly aheadBytes: number
  adjust(calls: number): void
}

/** The session that announces the window. */
export type Windowed = Pick<
  ClientHttp2Session,
  'pendingSettingsAck' | 'connecting' | 'destroyed' | 'settings'
>

export function createStreamWindow(session: Windowed): StreamWindow {
  let window = firstWindowBytes
  return {
    get aheadBytes() {
      return window / partAhead
    },
    adjust(calls) {
      // Larger again only at half the number that made it smaller, so that it does not oscillate.
      const wanted = Math.min(windowFor(calls), Math.max(window, windowFor(calls * 2)))
      if (wanted === window || session.pendingSettingsAck || session.connecting || session.destroyed) return
      window = wanted
      session.settings({ initialWindowSize: wanted })
    },
  }
}

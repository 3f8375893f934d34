// WebSocket frames: whatever a server sends, a reader gives messages or one error, the same in pieces as at once.
import { encodeFrame, MessageReader } from '../../../src/core/kube/websocket-frames.js'
import type { Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

interface Input {
  readonly bytes: readonly number[]
  readonly cut: number
}

const read = (pieces: readonly Uint8Array[]): string => {
  const reader = new MessageReader()
  try {
    return JSON.stringify(pieces.flatMap((piece) => reader.push(piece)))
  } catch (e) {
    return `error: ${String(e)}`
  }
}

export const websocketFrames: FuzzTarget = {
  name: 'websocket-frames',
  generate: (random: Random): Input => {
    const payload = Uint8Array.from({ length: random.below(300) }, () => random.below(256))
    const bytes = [...encodeFrame('binary', payload, new Uint8Array(4))]
    // Without a mask it is a server's frame; sometimes anything may be there.
    if (random.chance(80)) bytes.splice(payload.length < 126 ? 2 : 4, 4)
    if (random.chance(80)) bytes[1] = (bytes[1] ?? 0) & 0x7f
    for (let changes = random.below(4); changes > 0; changes -= 1)
      bytes[random.below(bytes.length)] = random.below(256)
    return { bytes, cut: random.below(bytes.length + 1) }
  },
  run(given) {
    const { bytes, cut } = given as Input
    const whole = Uint8Array.from(bytes)
    const atOnce = read([whole])
    const inTwo = read([whole.subarray(0, cut), whole.subarray(cut)])
    check(atOnce.startsWith('error') === inTwo.startsWith('error'), 'pieces change whether it is an error')
    if (!atOnce.startsWith('error')) check(atOnce === inTwo, 'pieces change what was read')
  },
}

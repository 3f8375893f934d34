// The bytes of a runtime's answer, cut anywhere: the same messages in the same order, none above the limit, or the call fails.
import { CallFailure } from '../../../src/adapters/cri/client/call-failure.js'
import { createUnframer } from '../../../src/adapters/cri/client/unframe.js'
import { check, type FuzzTarget } from '../types.js'

const seeds = [
  '0000000000',
  '00000000020801',
  '000000000208010000000001ff',
  '0100000001ff',
  '3c68746d6c3e',
] as const
const limit = 64

/** In pieces of this many bytes. What it failed of is text, so that two runs can be compared. */
function unframe(bytes: Buffer, size: number): string[] {
  const unframer = createUnframer(limit)
  const messages: string[] = []
  try {
    for (let at = 0; at < bytes.length; at += size)
      unframer.take(bytes.subarray(at, at + size), (message) => {
        check(message.length <= limit, `a message of ${message.length} bytes`)
        messages.push(message.toString('hex'))
      })
  } catch (e) {
    if (!(e instanceof CallFailure)) throw e
    return [...messages, e.kind]
  }
  return [...messages, unframer.isBetween ? 'whole' : 'cut off']
}

export const grpcAnswer: FuzzTarget = {
  name: 'grpc-answer',
  generate(random) {
    const bytes = Buffer.from(random.pick(seeds) + random.pick(seeds), 'hex')
    for (let i = random.below(4); i > 0; i -= 1) bytes[random.below(bytes.length)] = random.below(256)
    return bytes.subarray(0, random.below(bytes.length + 1)).toString('hex')
  },
  run(input) {
    const bytes = Buffer.from(String(input), 'hex')
    const byOne = unframe(bytes, 1).join(' ')
    for (const size of [2, 3, 7])
      check(unframe(bytes, size).join(' ') === byOne, `in pieces of ${size}: not as byte by byte, ${byOne}`)
  },
}

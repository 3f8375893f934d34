// Messages to bytes and back, stricter than the generated decoder: it stops quietly at a zero tag, so that
// a body of zeros would read as an empty answer, and "no answer" would become "no cgroup driver".
import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { DeepPartial, MessageFns } from '../../../cri-api/api.js'
import { complete } from '../../../cri-api/complete.js'

export const encodeMessage = <T>(fns: MessageFns<T>, partial: DeepPartial<T>): Buffer => {
  const bytes = fns.encode(complete(fns, partial)).finish()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Takes the whole message, and says itself when it cannot be read. */
export interface WholeDecoder<T> {
  decodeWhole(bytes: Uint8Array): T
}

export type Decoder<T> = Pick<MessageFns<T>, 'decode'> | WholeDecoder<T>

export function decodeMessage<T>(fns: Decoder<T>, bytes: Uint8Array): T {
  if ('decodeWhole' in fns) return fns.decodeWhole(bytes)
  const reader = new BinaryReader(bytes)
  const message = fns.decode(reader)
  if (reader.pos !== reader.len) throw new Error(`unreadable field at byte ${reader.pos} of ${reader.len}`)
  return message
}

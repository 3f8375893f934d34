// Messages to bytes and back, stricter than the generated decoder: it stops quietly at a zero tag, so that
// a body of zeros would read as an empty answer, and "no answer" would become "no cgroup driver".
import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { DeepPartial, MessageFns } from '../../cri-api/api.js'
import { complete } from '../../cri-api/complete.js'

export const encodeMessage = <T>(fns: MessageFns<T>, partial: DeepPartial<T>): Buffer => {
  const bytes = fns.encode(complete(fns, partial)).finish()
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function decodeMessage<T>(fns: Pick<MessageFns<T>, 'decode'>, bytes: Uint8Array): T {
  const reader = new BinaryReader(bytes)
  const message = fns.decode(reader)
  if (reader.pos !== reader.len) throw new Error(`unreadable field at byte ${reader.pos} of ${reader.len}`)
  return message
}

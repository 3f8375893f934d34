// grpc.health.v1.HealthCheckResponse as it comes over the wire: a prefix of five bytes and one message.
import { tagOf, WireReader, wireType } from './protobuf-wire.js'

const prefixBytes = 5
const statusTag = tagOf(1, wireType.varint)

/** The number of its ServingStatus; undefined: the bytes are no such answer. */
export function parseHealthAnswer(bytes: Uint8Array): number | undefined {
  // The first byte says that the message is compressed, which was not asked for.
  if (bytes.length < prefixBytes || bytes[0] !== 0) return undefined
  const message = bytes.subarray(prefixBytes)
  const reader = new WireReader(message)
  try {
    let status = 0
    while (reader.at < message.length) {
      const tag = reader.varint()
      if (tag === statusTag) status = reader.int32()
      else reader.skip(tag, message.length)
    }
    reader.finish(message.length)
    return status
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

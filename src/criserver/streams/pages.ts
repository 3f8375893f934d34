// The items of a list, cut out of unary answers without decoding them and put into messages of bounded size. Every list
// of CRI and its stream have their items in field 1, so an item's bytes serve both.
import { concatBytes, topLevelFields } from '../wire.js'

const itemField = 1
/** A message is sent once it holds this much; a single larger item goes alone. */
export const messageBytes = 512 * 1024

export async function* packItems(answers: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const answer of answers)
    for (const { field, bytes } of topLevelFields(answer)) {
      if (field !== itemField) continue
      if (size > 0 && size + bytes.length > messageBytes) {
        yield concatBytes(...parts)
        parts = []
        size = 0
      }
      parts.push(bytes)
      size += bytes.length
    }
  if (size > 0) yield concatBytes(...parts)
}

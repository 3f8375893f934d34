// The two halves of a stream that is made of unary answers: the questions, a few ahead of the reader, and the messages of
// bounded size into which the items of the answers are packed.
import { topLevelFields } from '../../core/cri/protobuf-wire.js'
import { keelsonError, messageOf } from '../../core/errors.js'

/** Results in the order of their questions. Stops asking when the reader leaves; calls in progress are not cancelled. */
export async function* askInOrder<Q, A>(
  questions: readonly Q[],
  ask: (question: Q) => Promise<A>,
  maxInProgress: number,
): AsyncGenerator<A> {
  const inProgress: Promise<A>[] = []
  let next = 0
  const fill = (): void => {
    while (inProgress.length < maxInProgress && next < questions.length) {
      const question = questions[next++]
      if (question === undefined) continue
      const asked = ask(question)
      // Its failure is seen when its turn comes, which may be never.
      asked.catch(() => {})
      inProgress.push(asked)
    }
  }
  for (fill(); inProgress.length > 0; fill()) {
    const first = inProgress.shift()
    if (first !== undefined) yield await first
  }
}

/** Every list of CRI and its stream have their items in this field, so the bytes of an item serve both. */
const itemField = 1
/** A message is sent once it holds this much; a single larger item goes alone. */
const messageBytes = 512 * 1024

export async function* packItems(answers: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let items: Uint8Array[] = []
  let size = 0
  for await (const answer of answers)
    for (const { field, bytes } of fieldsOf(answer)) {
      if (field !== itemField) continue
      if (size > 0 && size + bytes.length > messageBytes) {
        yield Buffer.concat(items)
        items = []
        size = 0
      }
      items.push(bytes)
      size += bytes.length
    }
  if (size > 0) yield Buffer.concat(items)
}

function fieldsOf(answer: Uint8Array): readonly { readonly field: number; readonly bytes: Uint8Array }[] {
  try {
    return [...topLevelFields(answer)]
  } catch (e) {
    throw keelsonError('runtime.malformed', `read the runtime's answer: ${messageOf(e)}`, {}, e)
  }
}

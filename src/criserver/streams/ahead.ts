// Results in the order of their questions, a few questions ahead of the reader.

/** Stops asking when the reader leaves; what is under way is let run out. */
export async function* inOrder<Q, A>(
  questions: readonly Q[],
  ask: (question: Q) => Promise<A>,
  ahead: number,
): AsyncGenerator<A> {
  const underWay: Promise<A>[] = []
  let next = 0
  const fill = (): void => {
    while (underWay.length < ahead && next < questions.length) {
      const question = questions[next++]
      if (question === undefined) continue
      const asked = ask(question)
      // Its failure is seen when its turn comes, which may be never.
      asked.catch(() => {})
      underWay.push(asked)
    }
  }
  for (fill(); underWay.length > 0; fill()) {
    const first = underWay.shift()
    if (first !== undefined) yield await first
  }
}

// What is under way behind an object, so that a clock of a test moves only when nothing is.

export interface OpenWork {
  open: number
}

/** The same object; whoever waits for an answer of it is counted meanwhile. */
export const counted = <T extends object>(target: T, work: OpenWork): T =>
  new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...args: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, target, args)
        if (!(answer instanceof Promise)) return answer
        work.open += 1
        return answer.finally(() => {
          work.open -= 1
        })
      }
    },
  })

/** Until nothing is under way, and nothing follows. */
export async function calm(work: OpenWork): Promise<void> {
  for (let quiet = 0; quiet < 10; quiet = work.open === 0 ? quiet + 1 : 0)
    await new Promise((resolve) => setImmediate(resolve))
}

// Alternating calls, directly and through the server, so that load of the machine falls on both.
import { median } from '../unit.js'

/** The quietest of these is reported: other load of the machine only ever adds. */
export const blocks = 5

export interface Pair {
  readonly name: string
  readonly directMs: number
  readonly throughMs: number
}

export async function measurePair(
  name: string,
  rounds: number,
  direct: () => Promise<unknown>,
  through: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<Pair> {
  const timed = async (call: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    await call()
    return performance.now() - begun
  }
  for (let i = 0; i < rounds; i++) {
    signal.throwIfAborted()
    await direct()
    await through()
  }
  const found: Pair[] = []
  for (let block = 0; block < blocks; block++) {
    const ms = { direct: [] as number[], through: [] as number[] }
    for (let i = 0; i < rounds; i++) {
      signal.throwIfAborted()
      // Neither is always first: what a call leaves behind for the next one falls on both alike.
      if (i % 2 === 0) ms.direct.push(await timed(direct))
      ms.through.push(await timed(through))
      if (i % 2 === 1) ms.direct.push(await timed(direct))
    }
    found.push({ name, directMs: median(ms.direct), throughMs: median(ms.through) })
  }
  return found.reduce((best, p) => (p.directMs + p.throughMs < best.directMs + best.throughMs ? p : best))
}

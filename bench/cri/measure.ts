// Alternating calls, directly and through the server, so that load of the machine falls on both.
import { median } from '../unit.js'

/** Times of the same call made both ways, one right after the other. */
export interface Round {
  readonly directMs: number
  readonly throughMs: number
}

export interface Pair {
  readonly name: string
  readonly directMs: number
  readonly throughMs: number
  /** Of the differences and the quotients of each round, so that what slows both calls of a round says nothing. */
  readonly addedMs: number
  readonly ratio: number
  /** A quarter of the rounds lie below the first of these quotients, a quarter above the second. */
  readonly spread: readonly [number, number]
}

const quantile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? Number.NaN

export function pairOf(name: string, rounds: readonly Round[]): Pair {
  const ratios = rounds.map((r) => r.throughMs / r.directMs)
  return {
    name,
    directMs: median(rounds.map((r) => r.directMs)),
    throughMs: median(rounds.map((r) => r.throughMs)),
    addedMs: median(rounds.map((r) => r.throughMs - r.directMs)),
    ratio: median(ratios),
    spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  }
}

export async function measurePair(
  name: string,
  rounds: number,
  direct: () => Promise<unknown>,
  through: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<Pair> {
  const timed = async (call: () => Promise<unknown>): Promise<number> => {
    signal.throwIfAborted()
    const begun = performance.now()
    await call()
    return performance.now() - begun
  }
  // As many again before the first that counts: servers run for months, and V8 compiles in the first thousand calls.
  for (let i = 0; i < rounds; i++) {
    await timed(direct)
    await timed(through)
  }
  const found: Round[] = []
  for (let i = 0; i < rounds; i++) {
    // Neither is always first: what a call leaves behind for the next one falls on both alike.
    if (i % 2 === 0) {
      const directMs = await timed(direct)
      found.push({ directMs, throughMs: await timed(through) })
    } else {
      const throughMs = await timed(through)
      found.push({ directMs: await timed(direct), throughMs })
    }
  }
  return pairOf(name, found)
}

// Gives a target its inputs one after the other and stops at the first finding. An input is named by its seed and
// number, from which it can be made again.
import { inspect } from 'node:util'
import { isKeelsonError } from '../../src/core/errors.js'
import { createRandom } from './random.js'
import type { FuzzTarget } from './types.js'

export interface FuzzOptions {
  readonly runs: number
  readonly seed: number
  /** Longest time for one input; generous, because a busy machine may pause us at any point. */
  readonly inputBudgetMs: number
  /** Called before each input, so that a watcher can name one that never ends. */
  onInput?(index: number): void
}

export interface FuzzResult {
  readonly target: string
  readonly runs: number
  readonly accepted: number
  readonly refused: number
  readonly slowestMs: number
  /** Undefined: passed. */
  readonly finding?: string
}

export function fuzz(target: FuzzTarget, options: FuzzOptions): FuzzResult {
  let accepted = 0
  let refused = 0
  let slowestMs = 0
  const result = (finding?: string): FuzzResult => ({
    target: target.name,
    runs: accepted + refused,
    accepted,
    refused,
    slowestMs,
    ...(finding === undefined ? {} : { finding }),
  })
  for (let index = 0; index < options.runs; index += 1) {
    options.onInput?.(index)
    const input = inputAt(target, options.seed, index)
    const started = performance.now()
    try {
      target.run(input)
      accepted += 1
    } catch (e) {
      if (!isKeelsonError(e) || e.code === 'internal.unexpected')
        return result(describe(options.seed, index, input, e))
      refused += 1
    }
    const tookMs = performance.now() - started
    slowestMs = Math.max(slowestMs, tookMs)
    if (tookMs > options.inputBudgetMs) {
      return result(describe(options.seed, index, input, new Error(`took ${Math.round(tookMs)} ms`)))
    }
  }
  return result()
}

export const inputAt = (target: FuzzTarget, seed: number, index: number): unknown =>
  target.generate(createRandom(Math.imul(seed, 0x9e3779b1) + index))

const describe = (seed: number, index: number, input: unknown, error: unknown): string =>
  `seed ${seed}, input ${index}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n` +
  `  input ${inspect(input, { depth: 8, breakLength: 100 }).slice(0, 2000)}`

export function formatFuzzResult(r: FuzzResult): string {
  const counts = `${r.runs} inputs, ${r.accepted} accepted, ${r.refused} refused`
  const head = `${r.target}: ${counts}, slowest ${r.slowestMs.toFixed(1)} ms`
  return r.finding === undefined ? head : `FAIL ${head}\n  ${r.finding}`
}

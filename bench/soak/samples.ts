// What a process holds, looked at again and again while nothing runs on the node, and what is judged of it: whether memory
// and descriptors stay the same, however many pods it has seen.
import type { BenchTarget } from '../unit.js'

export interface Sample {
  /** Pods that the node has run so far. */
  readonly lives: number
  /** After a collection. */
  readonly heapMiB: number
  /** Part of the heap: V8 compiles, and optimizes, what runs often, and it takes thousands of requests until all of that is done. */
  readonly codeMiB: number
  readonly descriptors: number
  readonly rssMiB: number
}

const MAX_HEAP_MIB = 5
/** Connections that clients keep open come and go. */
const MAX_DESCRIPTORS = 5

const spread = (values: readonly number[]): number => Math.max(...values) - Math.min(...values)

/** Of the line through all samples, for a thousand pods. */
export function rssSlope(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length
  const x = mean(samples.map((s) => s.lives))
  const y = mean(samples.map((s) => s.rssMiB))
  const across = samples.reduce((sum, s) => sum + (s.lives - x) * (s.rssMiB - y), 0)
  const along = samples.reduce((sum, s) => sum + (s.lives - x) ** 2, 0)
  return (across / along) * 1000
}

export function soakRow(name: string, samples: readonly Sample[]): readonly string[] {
  const [first, last] = [samples[0], samples.at(-1)]
  const change = (of: (s: Sample) => number): string =>
    first === undefined || last === undefined ? '' : `${of(first).toFixed(1)} to ${of(last).toFixed(1)}`
  return [
    name,
    `${change((s) => s.heapMiB)} MiB`,
    `${change((s) => s.codeMiB)} MiB`,
    `${first?.descriptors} to ${last?.descriptors}`,
    `${change((s) => s.rssMiB)} MiB`,
    `${rssSlope(samples).toFixed(1)} MiB`,
  ]
}

export function soakTargets(name: string, samples: readonly Sample[]): readonly BenchTarget[] {
  const heap = spread(samples.map((s) => s.heapMiB))
  const descriptors = spread(samples.map((s) => s.descriptors))
  return [
    {
      name: `${name}: heap after a collection, highest less lowest`,
      measured: `${heap.toFixed(1)} MiB`,
      limit: `<= ${MAX_HEAP_MIB} MiB`,
      met: heap <= MAX_HEAP_MIB,
    },
    {
      name: `${name}: open descriptors, highest less lowest`,
      measured: String(descriptors),
      limit: `<= ${MAX_DESCRIPTORS}`,
      met: descriptors <= MAX_DESCRIPTORS,
    },
  ]
}

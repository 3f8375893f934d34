// What a benchmark is: a named value with one function. It measures, and says of each target whether it was met.

export interface BenchTarget {
  readonly name: string
  readonly measured: string
  readonly limit: string
  readonly met: boolean
}

export interface BenchReport {
  /** File in the results folder, without its ending. */
  readonly file: string
  readonly title: string
  /** What was measured and how, in a few sentences. */
  readonly method: string
  /** Where it takes more than the name to get the page again. */
  readonly command?: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly targets: readonly BenchTarget[]
}

/** What was given on the command line, by the option's name. */
export type BenchOptions = Readonly<Record<string, string | undefined>>

export interface BenchUnit {
  readonly name: string
  readonly summary: string
  /** Names of options that it takes, each with a value, and what they are for. */
  readonly options?: Readonly<Record<string, string>>
  run(signal: AbortSignal, options: BenchOptions): Promise<BenchReport>
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

/** A ratio that may be at most so large. */
export const atMost = (name: string, measured: number, limit: number): BenchTarget => ({
  name,
  measured: `${measured.toFixed(2)}x`,
  limit: `<= ${limit}x`,
  met: measured <= limit,
})

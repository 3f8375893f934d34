export interface Shard {
  readonly shard: number
  readonly of: number
}
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** By part; only of those that passed. */
  readonly seconds: Readonly<Record<string, number>>
}
export function parseShard(text: string | undefined): Shard | undefined
export function splitParts(
  parts: readonly string[],
  seconds: Readonly<Record<string, number>>,
  count: number,
): readonly { readonly parts: readonly string[]; readonly seconds: number }[]
export function keepCounts(folder: string, shard: Shard, commit: string, counts: Counts): void
export function totalOf(
  folder: string,
  shard: Shard,
  commit: string,
): { readonly text: string; readonly seconds?: Readonly<Record<string, number>> }

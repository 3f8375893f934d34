// fast-check with a fixed beginning: a run that fails can be made again, and one that passed passes again. FUZZ_SEED gives
// another beginning; FUZZ_RUNS more inputs, for a search.
import fc from 'fast-check'

const { FUZZ_SEED, FUZZ_RUNS } = process.env

/** As `fc.assert`. */
export function assertProperty<Ts>(property: fc.IProperty<Ts>, options: { numRuns?: number } = {}): void {
  const numRuns = FUZZ_RUNS === undefined ? options : { numRuns: Number(FUZZ_RUNS) }
  fc.assert(property, { ...numRuns, seed: Number(FUZZ_SEED ?? 20_260_801) })
}

/** The same for properties that wait. */
export async function assertAsyncProperty<Ts>(
  property: fc.IAsyncProperty<Ts>,
  options: { numRuns?: number } = {},
): Promise<void> {
  const numRuns = FUZZ_RUNS === undefined ? options : { numRuns: Number(FUZZ_RUNS) }
  await fc.assert(property, { ...numRuns, seed: Number(FUZZ_SEED ?? 20_260_801) })
}

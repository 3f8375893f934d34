// A package of this source tree for a lab scenario, built where it can be used; nothing is built where the scenario is skipped.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages } from '../../scripts/package/build-packages.js'

export interface BuiltForTest {
  /** By the order of the names. */
  readonly files: readonly string[]
  remove(): Promise<void>
}

export async function packagesForTest(...names: readonly string[]): Promise<BuiltForTest> {
  const out = await mkdtemp(join(tmpdir(), 'keelson-packages-'))
  const files: string[] = []
  for await (const { path } of buildPackages(out, names, AbortSignal.timeout(600_000))) files.push(path)
  return { files, remove: () => rm(out, { recursive: true, force: true }) }
}

// A package of this source tree for a lab scenario, in a directory of the repository: lab machines see that one at its own path.
// Nothing is built where the scenario is skipped.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildPackages } from '../../scripts/package/build-packages.js'
import { root } from '../../scripts/package/release.js'

export interface BuiltForTest {
  /** In the order in which the packages are built: npm, tarball, deb, image. */
  readonly files: readonly string[]
  remove(): Promise<void>
}

export async function packagesForTest(...names: readonly string[]): Promise<BuiltForTest> {
  const parent = join(root, 'dist-packages')
  await mkdir(parent, { recursive: true })
  const out = await mkdtemp(join(parent, 'test-'))
  const files: string[] = []
  for await (const { path } of buildPackages(out, names, AbortSignal.timeout(900_000))) files.push(path)
  return { files, remove: () => rm(out, { recursive: true, force: true }) }
}

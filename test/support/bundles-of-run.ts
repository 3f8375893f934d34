// A place for bundles that the files of one run share; gone when the run ends. Nothing is built here: most runs of a few
// files need no bundle.
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const bundlesVariable = 'KEELSON_TEST_BUNDLES'

export async function setup(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bundles-'))
  // Some tests become another user.
  await chmod(directory, 0o755)
  process.env[bundlesVariable] = directory
  return async () => {
    delete process.env[bundlesVariable]
    await rm(directory, { recursive: true, force: true })
  }
}

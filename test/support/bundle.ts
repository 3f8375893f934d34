// The command as it is shipped, bundled once per run of the tests: whoever needs it first builds it, for all files.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import { buildDashboard } from '../../scripts/dashboard.mjs'
import { bundlesVariable } from './bundles-of-run.js'

export interface Bundle {
  readonly main: string
  remove(): Promise<void>
}

const root = join(import.meta.dirname, '../..')

/** The options of scripts/build.mjs that change behaviour. */
async function buildInto(directory: string): Promise<void> {
  await buildDashboard(join(directory, 'dashboard'))
  await cp(join(root, 'docs/doctor'), join(directory, 'docs/doctor'), { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: { main: 'src/cli/main.ts' },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    ...forNode,
    splitting: true,
  })
}

/** Changes with any source file, so that a watching run does not test yesterday's bundle. */
async function stateOfSources(): Promise<string> {
  const hash = createHash('sha256')
  const names = await readdir(join(root, 'src'), { recursive: true })
  for (const name of names.filter((n) => /\.(tsx?|css|html)$/.test(n) && !n.endsWith('.test.ts')).sort()) {
    const { mtimeMs, size } = await stat(join(root, 'src', name))
    hash.update(`${name} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

async function sharedBundle(bundles: string): Promise<Bundle> {
  const directory = join(bundles, await stateOfSources())
  const bundle = { main: join(directory, 'main.mjs'), remove: () => Promise.resolve() }
  if (existsSync(directory)) return bundle
  const fresh = await mkdtemp(join(bundles, 'fresh-'))
  await buildInto(fresh)
  await chmod(fresh, 0o755)
  // Two files may build at once; the second finds the place taken by the same content.
  await rename(fresh, directory).catch(() => rm(fresh, { recursive: true, force: true }))
  return bundle
}

export async function bundleCommand(): Promise<Bundle> {
  const bundles = process.env[bundlesVariable]
  if (bundles !== undefined) return sharedBundle(bundles)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bundle-'))
  await buildInto(directory)
  return {
    main: join(directory, 'main.mjs'),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

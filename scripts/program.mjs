// Builds the program: src/cli/main.ts as ESM chunks, one lazy chunk per subcommand, src/core as the library `keelson/core`, and
// src/dashboard as the page that is served. The result needs Node and nothing of node_modules.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forNode } from './bundling.mjs'
import { buildDashboard } from './dashboard.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** @param {{ out: string, types?: boolean }} options `types`: also the declarations of the library */
export async function buildProgram({ out, types = false }) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // Built beside and moved into place, so that a command that starts meanwhile finds a whole bundle.
  mkdirSync(out, { recursive: true })
  const fresh = mkdtempSync(join(out, '.fresh-'))
  chmodSync(fresh, 0o755)
  const common = {
    ...forNode,
    absWorkingDir: root,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  }
  const results = [
    await build({
      ...common,
      entryPoints: { main: 'src/cli/main.ts', 'lab-agent': 'src/lab/agent.ts' },
      outdir: fresh,
      chunkNames: 'chunks/[name]-[hash]',
      // Node takes .mjs for ESM as it is; for each .js it looks for a package.json that says so.
      outExtension: { '.js': '.mjs' },
      splitting: true,
      minifySyntax: true,
      minifyWhitespace: true,
      define: { __KEELSON_VERSION__: JSON.stringify(version) },
    }),
    await build({
      ...common,
      banner: {},
      entryPoints: { index: 'src/core/index.ts' },
      outdir: join(out, 'core'),
    }),
    await buildDashboard(join(out, 'dashboard')),
  ]
  // The entries keep the names by which they are known.
  for (const entry of ['main', 'lab-agent'])
    renameSync(join(fresh, `${entry}.mjs`), join(fresh, `${entry}.js`))
  if (types)
    execFileSync(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', 'scripts/tsconfig.core.json', '--outDir', join(out, 'core')],
      { cwd: root, stdio: 'inherit' },
    )
  const old = `${fresh}.old`
  try {
    renameSync(join(out, 'cli'), old)
  } catch (e) {
    if (e.code !== 'ENOENT') throw e
  }
  renameSync(fresh, join(out, 'cli'))
  rmSync(old, { recursive: true, force: true })
  const outputs = results.flatMap(({ metafile }) => Object.values(metafile.outputs))
  return {
    /** Source files that are in the result, from the repository's root. */
    inputs: [...new Set(outputs.flatMap((o) => Object.keys(o.inputs)))].sort(),
    /** What the result imports from elsewhere. */
    externals: [
      ...new Set(outputs.flatMap((o) => o.imports.filter((i) => i.external).map((i) => i.path))),
    ].sort(),
  }
}

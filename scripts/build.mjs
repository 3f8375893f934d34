// Bundles src/cli/main.ts into dist/cli as ESM chunks, one lazy chunk per subcommand, and src/core as the
// library `keelson/core` and src/dashboard as the page that is served; `--types` (npm pack does it) adds the library's declarations.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forNode } from './bundling.mjs'
import { buildDashboard } from './dashboard.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const started = performance.now()

// Built beside and moved into place, so that a command that starts meanwhile finds a whole bundle.
mkdirSync(join(root, 'dist'), { recursive: true })
const fresh = mkdtempSync(join(root, 'dist/.fresh-'))
chmodSync(fresh, 0o755)
const common = { ...forNode, absWorkingDir: root, legalComments: 'none', logLevel: 'warning' }
await build({
  ...common,
  entryPoints: { main: 'src/cli/main.ts', 'lab-agent': 'src/lab/agent.ts' },
  outdir: fresh,
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  define: { __KEELSON_VERSION__: JSON.stringify(version) },
})
await build({ ...common, banner: {}, entryPoints: { index: 'src/core/index.ts' }, outdir: 'dist/core' })
await buildDashboard(join(root, 'dist/dashboard'))
if (process.argv.includes('--types'))
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'scripts/tsconfig.core.json'], {
    cwd: root,
    stdio: 'inherit',
  })

const old = `${fresh}.old`
try {
  renameSync(join(root, 'dist/cli'), old)
} catch (e) {
  if (e.code !== 'ENOENT') throw e
}
renameSync(fresh, join(root, 'dist/cli'))
rmSync(old, { recursive: true, force: true })
if (process.argv.includes('--verbose'))
  console.log(`built dist/ in ${Math.round(performance.now() - started)} ms`)

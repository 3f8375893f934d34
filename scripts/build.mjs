// Bundles src/cli/main.ts into dist/cli as ESM chunks, one lazy chunk per subcommand, and src/core as a library.
// CommonJS packages inside an ESM bundle need `require`; the banner gives it to them.
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const started = performance.now()

// Built beside and moved into place, so that a command that starts meanwhile finds a whole bundle.
mkdirSync(join(root, 'dist'), { recursive: true })
const fresh = mkdtempSync(join(root, 'dist/.fresh-'))
await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/cli/main.ts', 'lab-agent': 'src/lab/agent.ts' },
  outdir: fresh,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  define: { __KEELSON_VERSION__: JSON.stringify(version) },
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
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

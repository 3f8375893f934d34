// Checks that run inside a fixture, as one module: there every file that node opens is dear.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'

/** `checks`: a file that exports `checks`. */
export async function bundleChecks(checks: string | URL, target: string): Promise<void> {
  const support = fileURLToPath(new URL('./check.ts', import.meta.url))
  const contents = `import { runChecks } from ${JSON.stringify(support)}
import { checks } from ${JSON.stringify(typeof checks === 'string' ? checks : fileURLToPath(checks))}
await runChecks(checks)`
  await build({
    ...forNode,
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile: target,
    sourcemap: 'inline',
  })
}

// The checks that a unit runs inside a bed, as one module: there every file that node opens is dear.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** `checks`: a module that exports `checks`. */
export async function bundleChecks(checks: URL, target: string): Promise<void> {
  const path = (url: URL): string => JSON.stringify(fileURLToPath(url))
  const contents = `import { runChecks } from ${path(new URL('../test/support/check.ts', import.meta.url))}
import { checks } from ${path(checks)}
await runChecks(checks)`
  await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile: target,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })
}

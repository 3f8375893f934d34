// One self-contained module for a lab bed: inside a kernel every file that node opens is dear.
import { build } from 'esbuild'

export async function bundleForBed(entry: string, target: string): Promise<void> {
  await build({
    entryPoints: [entry],
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

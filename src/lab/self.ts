// How the lab starts itself as another process: the bundled agent beside the command line's own bundle or, in a source
// tree, a bundle made on the spot (a bundle because node inside a machine is slow at loading many files).
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheDirectory } from './cache.js'

let bundled: Promise<string> | undefined

/** The agent as one file (with chunks beside it) that plain node can run. */
async function agentFile(): Promise<string> {
  for (const place of ['./lab-agent.js', '../lab-agent.js']) {
    const file = fileURLToPath(new URL(place, import.meta.url))
    if (existsSync(file)) return file
  }
  bundled ??= bundleFromSource()
  return bundled
}

export const agentCommand = async (): Promise<string[]> => [process.execPath, await agentFile()]

interface Bundler {
  build(options: object): Promise<{ readonly outputFiles: readonly { readonly contents: Uint8Array }[] }>
}

/** One TypeScript file and all it imports as one module text. Only in a source tree, where esbuild is installed. */
async function bundle(entry: string): Promise<Uint8Array> {
  const name = 'esbuild' // not a literal import: the shipped bundle must not contain the bundler
  const { build } = (await import(name)) as Bundler
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'silent',
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })
  const [output] = result.outputFiles
  if (output === undefined) throw new Error(`${entry} bundled to nothing`)
  return output.contents
}

const dayMs = 24 * 3600 * 1000

async function bundleFromSource(): Promise<string> {
  const text = await bundle(fileURLToPath(new URL('./agent.ts', import.meta.url)))
  const dir = join(cacheDirectory(process.env), 'agents')
  const file = join(dir, `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`)
  if (existsSync(file)) return file
  await mkdir(dir, { recursive: true })
  const scratch = `${file}.${process.pid}`
  await writeFile(scratch, text)
  await rename(scratch, file)
  for (const old of await readdir(dir)) {
    const age = await stat(join(dir, old)).then(
      (s) => Date.now() - s.mtimeMs,
      () => 0,
    )
    if (age > dayMs) await unlink(join(dir, old)).catch(() => {})
  }
  return file
}

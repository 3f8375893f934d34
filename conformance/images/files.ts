// Building blocks of an image's root: texts, copies, and dynamic programs with the libraries that they load.
import { readFile, realpath, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ImageFile } from '../../src/lab/images/archive.js'
import { mustRun } from '../../src/lab/process.js'

export const text = (path: string, content: string, mode = 0o644): ImageFile => ({
  path,
  data: Buffer.from(content),
  mode,
})

export const directory = (path: string, mode = 0o755): ImageFile => ({ path, mode })

export async function copyOf(path: string, source: string, mode?: number): Promise<ImageFile> {
  const { mode: own } = await stat(source)
  return { path, data: await readFile(source), mode: mode ?? own & 0o777 }
}

const LIBRARIES = 'usr/lib/x86_64-linux-gnu'
const LOADER = 'lib64/ld-linux-x86-64.so.2'

/** Libraries of a program by `ldd`: name to file. One that is nowhere is an error that names it. */
export function parseLdd(output: string): ReadonlyMap<string, string> {
  const missing = [...output.matchAll(/(\S+) => not found/g)].map((m) => m[1])
  if (missing.length > 0) throw new Error(`libraries not found: ${missing.join(', ')}`)
  return new Map([...output.matchAll(/(\S+) => (\/\S+)/g)].map((m) => [m[1] ?? '', m[2] ?? '']))
}

/** A program of this host or of unpacked packages, whose libraries come first. */
export async function program(path: string, source: string, unpacked: string): Promise<ImageFile[]> {
  const first = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map((d) => `${unpacked}/${d}`)
  const env = { ...process.env, LD_LIBRARY_PATH: first.join(':') }
  const libraries = parseLdd(await mustRun(['ldd', source], { env }))
  return [
    await copyOf(path, source, 0o755),
    ...(await Promise.all(
      [...libraries].map(async ([name, file]) =>
        copyOf(`${LIBRARIES}/${basename(name)}`, await realpath(file), 0o755),
      ),
    )),
    await copyOf(LOADER, `/${LOADER}`, 0o755),
    { path: 'lib/x86_64-linux-gnu', link: `../${LIBRARIES}` },
  ]
}

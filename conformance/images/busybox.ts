// busybox 1.37 from its source tarball in Debian's archive, with its own defaults. Debian's busybox-static will not do:
// its shell drops variables such as `data-1` from the environment and prefers its own applets to programs on PATH.
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { CachedPart } from '../../src/lab/cache.js'
import { mustRun } from '../../src/lab/process.js'

const source = {
  url: 'http://deb.debian.org/debian/pool/main/b/busybox/busybox_1.37.0.orig.tar.bz2',
  sha256: '3311dff32e746499f4df0d5df04d7eb396382d7e108bb9250e7b519b837043a4',
}
/** tc does not compile with the headers of current kernels. */
const settings: Readonly<Record<string, 'y' | 'n'>> = { CONFIG_STATIC: 'y', CONFIG_TC: 'n' }

async function download(signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(source.url, { signal })
  if (!response.ok) throw new Error(`download ${source.url}: HTTP ${response.status}`)
  const data = Buffer.from(await response.arrayBuffer())
  const sha256 = createHash('sha256').update(data).digest('hex')
  if (sha256 !== source.sha256) throw new Error(`${source.url} has the sum ${sha256}, not ${source.sha256}`)
  return data
}

/** Turns options of a kernel-style configuration on or off. */
export function configure(config: string, wanted: typeof settings): string {
  const kept = config
    .split('\n')
    .filter(
      (line) => !Object.keys(wanted).some((k) => line.startsWith(`${k}=`) || line === `# ${k} is not set`),
    )
  const added = Object.entries(wanted).map(([k, v]) => (v === 'y' ? `${k}=y` : `# ${k} is not set`))
  return [...kept.filter((l) => l !== ''), ...added, ''].join('\n')
}

export const busybox: CachedPart = {
  name: 'suite-busybox',
  recipe: { source, settings, format: 1 },
  async build(dir, signal) {
    const work = join(dir, 'source')
    const tarball = join(dir, 'busybox.tar.bz2')
    await mkdir(work)
    await writeFile(tarball, await download(signal))
    await mustRun(['tar', '-xf', tarball, '-C', work, '--strip-components=1'], { signal })
    const make = (...args: string[]): Promise<string> =>
      mustRun(['nice', '-n', '10', 'make', '-C', work, ...args], { signal })
    await make('defconfig')
    const config = join(work, '.config')
    await writeFile(config, configure(await readFile(config, 'utf8'), settings))
    await make(`-j${availableParallelism()}`, 'busybox')
    await copyFile(join(work, 'busybox'), join(dir, 'busybox'))
    await rm(work, { recursive: true })
    await rm(tarball)
  },
}

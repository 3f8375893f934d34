// The gRPC health server image. Built with Go from the source beside this file, in a source tree only and only when it
// is asked for; the binary and Go's own caches are kept with the lab's other parts.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keelsonError } from '../../src/core/errors.js'
import { ensurePart } from '../../src/lab/cache.js'
import { writeImageArchive } from '../../src/lab/images/archive.js'
import { findCommand } from '../../src/lab/packages.js'
import { mustRun } from '../../src/lab/process.js'

export const healthReference = 'keelson.local/health:1'

const sources = ['main.go', 'go.mod', 'go.sum']
const sourceDir = fileURLToPath(new URL('./health-server', import.meta.url))

export const findGo = (): string | undefined => findCommand('go') ?? findCommand('/usr/local/go/bin/go')

/** The archive with the image, made when it is missing; the first time Go downloads its modules. */
export async function ensureHealthImage(
  cacheDir: string,
  signal: AbortSignal,
  progress: (line: string) => void = () => {},
): Promise<string> {
  if (!existsSync(sourceDir))
    throw keelsonError('lab.unsupported', 'the health image can only be built in a source tree of Keelson')
  const texts = await Promise.all(sources.map((name) => readFile(join(sourceDir, name), 'utf8')))
  const part = {
    name: 'health-image',
    recipe: { from: createHash('sha256').update(texts.join('\0')).digest('hex'), format: 2 },
    build: (dir: string, stop: AbortSignal): Promise<void> => build(dir, cacheDir, stop),
  }
  return join(await ensurePart(cacheDir, part, signal, progress), 'health.tar')
}

async function build(dir: string, cacheDir: string, signal: AbortSignal): Promise<void> {
  const go = findGo()
  if (go === undefined)
    throw keelsonError(
      'lab.missing',
      'the health image is built with Go, which is not installed; see https://go.dev/dl/',
    )
  const work = join(dir, 'build')
  await mkdir(work)
  for (const name of sources) await copyFile(join(sourceDir, name), join(work, name))
  const env = {
    ...process.env,
    CGO_ENABLED: '0',
    GOARCH: 'amd64',
    GOFLAGS: '-mod=readonly -modcacherw -buildvcs=false',
    GOMODCACHE: join(cacheDir, 'go/mod'),
    GOCACHE: join(cacheDir, 'go/build'),
  }
  await mustRun([go, 'build', '-trimpath', '-ldflags=-s -w', '-o', 'health', '.'], { cwd: work, env, signal })
  const data = await readFile(join(work, 'health'))
  await writeImageArchive(join(dir, 'health.tar'), [
    {
      reference: healthReference,
      files: [
        { path: 'tmp', mode: 0o1777 },
        { path: 'health', data, mode: 0o755 },
      ],
      entrypoint: ['/health'],
    },
  ])
  await rm(work, { recursive: true })
}

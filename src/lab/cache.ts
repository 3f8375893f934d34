// The lab's cache: parts that are expensive to build, outside the repository, each built once and moved into place
// atomically. If two runs need the same part, one builds it and the other waits.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Lock, takeLock } from '../adapters/lock/lock.js'
import { keelsonError, messageOf } from '../core/errors.js'

/** $KEELSON_LAB_CACHE, else the user's cache directory, else /var/cache/keelson for root without a home. */
export function cacheDirectory(env: Readonly<Record<string, string | undefined>>): string {
  if (env.KEELSON_LAB_CACHE) return resolve(env.KEELSON_LAB_CACHE)
  if (env.XDG_CACHE_HOME) return join(resolve(env.XDG_CACHE_HOME), 'keelson')
  const home = env.HOME ?? homedir()
  return home === '' || home === '/' ? '/var/cache/keelson' : join(home, '.cache', 'keelson')
}

export interface CachedPart {
  readonly name: string
  /** Everything that decides what the part contains; another recipe is another part. */
  readonly recipe: unknown
  /** Fills `dir`, which exists and is empty. */
  build(dir: string, signal: AbortSignal): Promise<void>
}

const hashOf = (recipe: unknown): string =>
  createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 16)

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function isComplete(dir: string, manifest: string): Promise<boolean> {
  return (await readFile(join(dir, '.manifest.json'), 'utf8').catch(() => '')) === manifest
}

/** Where a part would be; it may not be there yet. */
export const partPath = (cacheDir: string, part: CachedPart): string =>
  join(cacheDir, `${part.name}-${hashOf(part.recipe)}`)

/** The directory of a part, made when it is missing. */
export async function ensurePart(
  cacheDir: string,
  part: CachedPart,
  signal: AbortSignal,
  progress: (line: string) => void = () => {},
): Promise<string> {
  const dir = partPath(cacheDir, part)
  const manifest = `${JSON.stringify({ name: part.name, recipe: part.recipe })}\n`
  if (await isComplete(dir, manifest)) return dir
  await mkdir(cacheDir, { recursive: true }).catch((e: unknown) => {
    throw keelsonError(
      'lab.cache',
      `create ${cacheDir}: ${messageOf(e)}; choose another directory with $KEELSON_LAB_CACHE`,
      { cacheDir },
      e,
    )
  })
  const lock = await waitForLock(`${dir}.lock`, signal)
  const scratch = `${dir}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    if (await isComplete(dir, manifest)) return dir
    progress(`building ${part.name} (once, cached in ${cacheDir})`)
    const started = performance.now()
    await mkdir(scratch)
    await part.build(scratch, signal)
    signal.throwIfAborted()
    const file = await open(join(scratch, '.manifest.json'), 'w')
    await file.writeFile(manifest)
    await file.sync()
    await file.close()
    if (await exists(dir)) await rm(dir, { recursive: true, force: true })
    await rename(scratch, dir)
    progress(`built ${part.name} in ${((performance.now() - started) / 1000).toFixed(1)} s`)
    return dir
  } finally {
    await rm(scratch, { recursive: true, force: true })
    await lock.release()
  }
}

class Busy extends Error {}

/** Waits for the process that builds the part now; the lock of a dead process is free at once. */
export async function waitForLock(path: string, signal: AbortSignal): Promise<Lock> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await takeLock(path, (pid) => new Busy(`held by process ${pid}`))
    } catch (e) {
      if (!(e instanceof Busy)) throw keelsonError('lab.cache', `lock ${path}: ${messageOf(e)}`, { path }, e)
    }
    await sleep(200, undefined, { signal })
  }
}

// What V8 compiled at one start, kept for the next: a third of the CPU time of a kubelet's start. Node has it from 22 on. Only
// for daemons of root: code is taken from this directory, so that no other user may write to it.
import { mkdirSync } from 'node:fs'
import module from 'node:module'

const daemons = new Set(['kubelet', 'cri', 'companion'])
const directory = '/var/cache/keelson/compiled'
/** By then everything that a start needs was compiled. */
const SAVE_MS = 10_000

/** Not in the types of Node 20. */
interface CompileCache {
  readonly enableCompileCache?: (directory: string) => unknown
  readonly flushCompileCache?: () => void
}

/** Before the command is loaded. A node whose disk cannot be written to starts without it. */
export function useCompileCache(command: string | undefined): void {
  const { enableCompileCache, flushCompileCache } = module as CompileCache
  if (enableCompileCache === undefined || command === undefined || !daemons.has(command)) return
  if (process.getuid?.() !== 0) return
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch {
    return
  }
  enableCompileCache(directory)
  // A process that is killed saves nothing at its end.
  if (flushCompileCache !== undefined) setTimeout(flushCompileCache, SAVE_MS).unref()
}

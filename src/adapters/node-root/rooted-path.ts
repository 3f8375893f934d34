// Paths of a node below another root: links are followed as the node itself would, so an absolute one starts
// again at the root and `..` never leaves it.
import { lstat, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { keelsonError } from '../../core/errors.js'

/** As the kernel: more links than this in one path are a loop. */
const mostLinks = 40

interface ResolvedPath {
  /** As the node sees it, without links. */
  readonly inside: string
  /** As this process sees it. */
  readonly outside: string
  readonly exists: boolean
}

const isMissing = (e: unknown): boolean =>
  e instanceof Error && 'code' in e && (e.code === 'ENOENT' || e.code === 'ENOTDIR')

/** A missing last part is fine; `exists` says so. A link to nowhere is not: writing would make its target. */
export async function resolveInside(root: string, path: string): Promise<ResolvedPath> {
  const todo = path.split('/').filter((p) => p !== '' && p !== '.')
  const done: string[] = []
  let links = 0
  let viaLink = ''
  /** How many parts are left behind the target of the last link: down to there it is the target that is missing. */
  let behindLink = Number.POSITIVE_INFINITY
  while (todo.length > 0) {
    const part = todo.shift() ?? ''
    if (part === '..') {
      done.pop()
      continue
    }
    const here = join(root, ...done, part)
    let isLink = false
    try {
      isLink = (await lstat(here)).isSymbolicLink()
    } catch (e) {
      if (!isMissing(e)) throw e
      if (todo.length >= behindLink)
        throw keelsonError('node.refused', `follow ${path}: ${viaLink} is a dangling link`, {
          path,
        })
      return { ...whole(root, [...done, part, ...todo]), exists: false }
    }
    if (!isLink) {
      done.push(part)
      continue
    }
    if (++links > mostLinks)
      throw keelsonError('node.refused', `follow ${path}: loop of symbolic links`, { path })
    const target = await readlink(here)
    viaLink = `/${[...done, part].join('/')}`
    behindLink = todo.length
    if (target.startsWith('/')) done.length = 0
    todo.unshift(...target.split('/').filter((p) => p !== '' && p !== '.'))
  }
  return { ...whole(root, done), exists: true }
}

const whole = (root: string, parts: readonly string[]) => ({
  inside: `/${parts.join('/')}`,
  outside: join(root, ...parts),
})

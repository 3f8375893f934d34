// Files in memory. Directories exist as long as a file is in them, or after `makeDirectory`.
import { keelsonError } from '../core/errors.js'
import type { FileEntry, Files, ListOptions, ReplaceOptions, WatchOptions } from '../ports/files.js'

interface FakeFile {
  readonly content: Uint8Array
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number }
  readonly inode: bigint
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/')) || '/'
const encode = (content: Uint8Array | string): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content

/** By code unit in each directory, files and directories mixed: as a walk that reads one directory after the other. */
const byParts = (a: string, b: string): number => {
  const [left, right] = [a.split('/'), b.split('/')]
  const i = left.findIndex((part, at) => part !== right[at])
  return (left[i] ?? '') < (right[i] ?? '') ? -1 : 1
}

export class FakeFiles implements Files {
  readonly files = new Map<string, FakeFile>()
  private readonly directories = new Set<string>(['/'])
  private readonly refusals = new Map<string, string>()
  private readonly watchers = new Set<() => void>()
  private inodes = 0n

  makeDirectory(path: string): void {
    for (let at = path; at !== '/'; at = parentOf(at)) this.directories.add(at)
    this.changed()
  }

  /** With all that is in it. */
  removeDirectory(path: string): void {
    for (const file of [...this.files.keys()]) if (file.startsWith(`${path}/`)) this.files.delete(file)
    for (const dir of [...this.directories])
      if (dir === path || dir.startsWith(`${path}/`)) this.directories.delete(dir)
    this.changed()
  }

  /** Every later use of the path fails for this reason; undefined makes it work again. */
  refuse(path: string, reason: string | undefined): void {
    if (reason === undefined) this.refusals.delete(path)
    else this.refusals.set(path, reason)
  }

  text(path: string): string | undefined {
    const file = this.files.get(path)
    return file === undefined ? undefined : new TextDecoder().decode(file.content)
  }

  async read(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const reason = this.refusals.get(path) ?? (this.directories.has(path) ? 'it is a directory' : undefined)
    if (reason !== undefined) throw keelsonError('input.unreadable', `read ${path}: ${reason}`, { path })
    const content = this.files.get(path)?.content
    if (content !== undefined && content.length > maxBytes)
      throw keelsonError('input.too-large', `read ${path}: more than ${maxBytes} bytes`, { path, maxBytes })
    return content
  }

  async replace(path: string, content: Uint8Array | string, options: ReplaceOptions = {}): Promise<void> {
    const missing = this.directories.has(parentOf(path)) ? undefined : 'no such directory'
    const reason =
      this.refusals.get(path) ?? missing ?? (this.directories.has(path) ? 'it is a directory' : undefined)
    if (reason !== undefined) throw keelsonError('file.write-failed', `replace ${path}: ${reason}`, { path })
    const old = this.files.get(path)
    this.files.set(path, {
      content: encode(content),
      mode: options.mode ?? old?.mode ?? 0o644,
      owner: options.owner ?? old?.owner ?? { uid: 0, gid: 0 },
      inode: ++this.inodes,
    })
    this.changed()
  }

  async remove(path: string): Promise<void> {
    const reason = this.refusals.get(path)
    if (reason !== undefined) throw keelsonError('file.write-failed', `remove ${path}: ${reason}`, { path })
    if (this.files.delete(path)) this.changed()
  }

  async list(
    directory: string,
    { recursive = false, suffix = '', maxEntries = 10_000 }: ListOptions = {},
  ): Promise<readonly FileEntry[] | undefined> {
    if (!this.directories.has(directory)) return undefined
    const prefix = directory === '/' ? '/' : `${directory}/`
    const found = [...this.files]
      .filter(([path]) => path.startsWith(prefix) && path.endsWith(suffix))
      .map(([path, file]) => ({ path, name: path.slice(prefix.length), file }))
      .filter(({ name }) => recursive || !name.includes('/'))
      .sort((a, b) => byParts(a.name, b.name))
    if (found.length > maxEntries)
      throw keelsonError('input.too-large', `list ${directory}: more than ${maxEntries} files`, {
        directory,
        maxEntries,
      })
    return found.map(({ path, name, file }) => ({
      path,
      name,
      size: BigInt(file.content.length),
      mtimeNanos: file.inode,
      inode: file.inode,
    }))
  }

  async *watch(
    directory: string,
    { signal, ...list }: WatchOptions & ListOptions,
  ): AsyncGenerator<readonly FileEntry[], void, undefined> {
    let known: string | undefined
    while (!signal.aborted) {
      const files = (await this.list(directory, list)) ?? []
      const print = files.map((f) => `${f.name} ${f.inode}`).join('\n')
      if (print === known) await this.nextChange(signal)
      else {
        known = print
        yield files
      }
    }
  }

  private nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        this.watchers.delete(wake)
        resolve()
      }
      if (signal.aborted) return wake()
      signal.addEventListener('abort', wake, { once: true })
      this.watchers.add(wake)
      return undefined
    })
  }

  private changed(): void {
    for (const wake of [...this.watchers]) wake()
  }
}

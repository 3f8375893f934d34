// The configuration files of a runtime that does not show its settings, and whether it can have read them as they are now.
import type { HandlerSetting } from '../../core/driver/evidence.js'
import type { Files } from '../../ports/files.js'
import { containerdDefault, readContainerdFile, readCrioFiles } from './config-file.js'
import type { StatedSettings } from './decide.js'

export interface RuntimeFilesOptions {
  /** Undefined: where the runtime of that name has its own by default. */
  readonly configFile: string | undefined
  readonly files: Pick<Files, 'read' | 'list'>
  /** Of the runtime's socket: when the runtime started. Undefined: no such file. */
  readonly mtimeNanos: (path: string) => bigint | undefined
  /** The last change of any kind, also of what a link leads to; a file moved into place has changed now. */
  readonly changedNanos: (path: string) => bigint | undefined
  readonly parseToml: (text: string) => unknown
}

export type RuntimeKind = 'containerd' | 'crio'
type Silence = { readonly silent: string }
export type Stated = StatedSettings | Silence

const maxFileBytes = 1024 * 1024
const maxFiles = 64
const defaultFiles = { containerd: '/etc/containerd/config.toml', crio: '/etc/crio/crio.conf' } as const
const crioDropIns = '/etc/crio/crio.conf.d'

interface Read {
  readonly handlers: readonly HandlerSetting[]
  /** Those that speak of handlers. */
  readonly named: readonly string[]
  /** Everything that the runtime looks at: one of them newer than the runtime, and the settings may be others. */
  readonly looked: readonly string[]
}

export async function readRuntimeFiles(
  o: RuntimeFilesOptions,
  kind: RuntimeKind,
  socketPath: string,
): Promise<Stated> {
  const main = o.configFile ?? defaultFiles[kind]
  const read = kind === 'crio' ? await readCrio(o, main) : await readContainerd(o, main)
  if ('silent' in read) return read
  const started = o.mtimeNanos(socketPath)
  const isOlder = (path: string): boolean => {
    const changed = o.changedNanos(path)
    return started !== undefined && changed !== undefined && changed <= started
  }
  return { from: read.named.join(', '), handlers: read.handlers, isAsLoaded: read.looked.every(isOlder) }
}

const absent = (path: string): Silence => ({
  silent: `Status shows no cgroup driver, and there is no ${path}`,
})

async function parseFile(o: RuntimeFilesOptions, path: string): Promise<unknown> {
  const bytes = await o.files.read(path, maxFileBytes)
  return bytes === undefined ? undefined : o.parseToml(new TextDecoder().decode(bytes))
}

/** Packages of newer releases bring drop-ins alone. They are read whatever the main file is. */
async function readCrio(o: RuntimeFilesOptions, main: string): Promise<Read | Silence> {
  const first = await parseFile(o, main)
  const dropIns = await o.files.list(crioDropIns, { recursive: true, maxEntries: maxFiles })
  if (first === undefined && (o.configFile !== undefined || (dropIns ?? []).length === 0)) return absent(main)
  const named = [...(first === undefined ? [] : [main]), ...(dropIns ?? []).map((f) => f.path)]
  const parsed: unknown[] = []
  for (const path of named) parsed.push(path === main ? first : await parseFile(o, path))
  const handlers = readCrioFiles(parsed)
  if (typeof handlers === 'string') return { silent: `${named.join(', ')}: ${handlers}` }
  return { handlers, named, looked: [...named, ...(dropIns === undefined ? [] : [crioDropIns])] }
}

async function readContainerd(o: RuntimeFilesOptions, main: string): Promise<Read | Silence> {
  const handlers: HandlerSetting[] = []
  const named = [main]
  const looked: string[] = []
  const waiting = [main]
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (looked.includes(path)) continue
    if (looked.length >= maxFiles) return { silent: `${main} imports more than ${maxFiles} files` }
    looked.push(path)
    const parsed = await parseFile(o, path)
    if (parsed === undefined) return absent(path)
    const file = readContainerdFile(parsed)
    if (typeof file === 'string') return { silent: `${path}: ${file}` }
    // Releases differ in how they merge imported sections; the settings of every file are kept, and a contradiction is found later.
    if (path !== main && file.handlers !== undefined) named.push(path)
    handlers.push(...(file.handlers ?? []))
    for (const entry of file.imports) {
      const found = await expandImport(o, path, entry)
      if (found === undefined) return { silent: `${path} imports ${entry}, a pattern that is not supported` }
      waiting.push(...found.files)
      if (found.directory !== undefined) looked.push(found.directory)
    }
  }
  return { handlers: handlers.length === 0 ? containerdDefault : handlers, named, looked }
}

interface Imported {
  readonly files: readonly string[]
  /** Files may be added to it or removed. */
  readonly directory?: string
}

/** `conf.d/*.toml` beside the file that imports it, or a plain path. Undefined: a pattern of another form. */
async function expandImport(
  o: RuntimeFilesOptions,
  from: string,
  entry: string,
): Promise<Imported | undefined> {
  const path = entry.startsWith('/') ? entry : `${from.slice(0, from.lastIndexOf('/'))}/${entry}`
  if (!path.includes('*')) return { files: [path] }
  const at = path.lastIndexOf('/')
  const directory = path.slice(0, at)
  const pattern = path.slice(at + 1)
  if (directory.includes('*') || /[?[\]\\]/.test(path)) return undefined
  const matches = new RegExp(`^${pattern.split('*').map(escapeText).join('.*')}$`)
  const listed = await o.files.list(directory)
  if (listed === undefined) return { files: [] }
  return { files: listed.filter((f) => matches.test(f.name)).map((f) => f.path), directory }
}

const escapeText = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

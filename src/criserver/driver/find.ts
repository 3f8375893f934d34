// Looks up the facts that decide.ts decides on: Status first, since it shows what is loaded; files where Status is silent.
import type { CgroupDriver } from '../../core/cgroup-name.js'
import { parseHandlerSettings } from '../../core/driver-evidence.js'
import { asKeelsonError } from '../../core/errors.js'
import type { Files } from '../../ports/files.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { containerdDefault, readContainerdFile, readCrioFiles } from './config-file.js'
import { type DriverFinding, decideRuntimeDriver, type StatedSettings } from './decide.js'
import { readSandboxCgroups } from './sandboxes.js'

export interface DriverFinderOptions {
  readonly client: Pick<CriClient, 'runtime' | 'socketPath'>
  readonly operator: CgroupDriver | undefined
  /** Undefined: where the runtime of that name has its own by default. */
  readonly configFile: string | undefined
  readonly files: Pick<Files, 'read' | 'list'>
  /** Undefined: no such file. */
  readonly mtimeNanos: (path: string) => bigint | undefined
  readonly parseToml: (text: string) => unknown
  readonly procfs: Pick<Procfs, 'cgroupOf'>
  readonly cgroupVersion: 'v1' | 'v2'
  readonly log: Log
}

export type FindDriver = (signal: AbortSignal) => Promise<DriverFinding>

const timeoutMs = 5_000
const maxFileBytes = 1024 * 1024
const maxImports = 64
const defaultFiles = { containerd: '/etc/containerd/config.toml', crio: '/etc/crio/crio.conf' } as const
const crioDropIns = '/etc/crio/crio.conf.d'

type Silence = { readonly silent: string }
type Stated = StatedSettings | Silence

export const createDriverFinder =
  (o: DriverFinderOptions): FindDriver =>
  async (signal) => {
    const [stated, sandboxes] = await Promise.all([
      readStated(o, signal),
      readSandboxCgroups({ ...o, ...o.client, signal }),
    ])
    const facts = {
      operator: o.operator,
      stated: 'silent' in stated ? undefined : stated,
      silent: 'silent' in stated ? stated.silent : undefined,
      sandboxes: sandboxes ?? [],
    }
    return decideRuntimeDriver(facts)
  }

async function readStated(o: DriverFinderOptions, signal: AbortSignal): Promise<Stated> {
  const options = { timeoutMs, signal }
  try {
    const { runtimeName } = await o.client.runtime.version({}, options)
    const { info } = await o.client.runtime.status({ verbose: true }, options)
    const handlers = parseHandlerSettings(info.config ?? '')
    if (handlers !== undefined) return { from: `Status of ${runtimeName}`, handlers, isAsLoaded: true }
    const kind = /cri-?o/i.test(runtimeName)
      ? 'crio'
      : runtimeName === 'containerd'
        ? 'containerd'
        : undefined
    if (kind === undefined && o.configFile === undefined)
      return {
        silent: `Status of ${runtimeName} shows no cgroup driver, and its configuration file is not known here`,
      }
    return await readFiles(o, kind ?? 'containerd')
  } catch (e) {
    return { silent: `the runtime could not be asked: ${asKeelsonError(e).message}` }
  }
}

async function readFiles(o: DriverFinderOptions, kind: 'containerd' | 'crio'): Promise<Stated> {
  const main = o.configFile ?? defaultFiles[kind]
  const parsed = await parseFile(o, main)
  if (parsed === undefined) return { silent: `Status shows no cgroup driver, and there is no ${main}` }
  const read = kind === 'crio' ? await readCrio(o, main, parsed) : await readContainerd(o, main, parsed)
  if ('silent' in read) return read
  const started = o.mtimeNanos(o.client.socketPath)
  const isOlder = (path: string): boolean => {
    const changed = o.mtimeNanos(path)
    return started !== undefined && changed !== undefined && changed <= started
  }
  return { from: read.files.join(', '), handlers: read.handlers, isAsLoaded: read.files.every(isOlder) }
}

async function parseFile(o: DriverFinderOptions, path: string): Promise<unknown> {
  const bytes = await o.files.read(path, maxFileBytes)
  return bytes === undefined ? undefined : o.parseToml(new TextDecoder().decode(bytes))
}

type ReadFiles = (Pick<StatedSettings, 'handlers'> & { readonly files: readonly string[] }) | Silence

async function readCrio(o: DriverFinderOptions, main: string, first: unknown): Promise<ReadFiles> {
  const dropIns = (await o.files.list(crioDropIns)) ?? []
  const files = [main, ...(o.configFile === undefined ? dropIns.map((f) => f.path) : [])]
  const parsed = [first]
  for (const file of files.slice(1)) parsed.push(await parseFile(o, file))
  const handlers = readCrioFiles(parsed)
  return typeof handlers === 'string' ? { silent: `${files.join(', ')}: ${handlers}` } : { handlers, files }
}

async function readContainerd(o: DriverFinderOptions, main: string, first: unknown): Promise<ReadFiles> {
  const file = readContainerdFile(first)
  if (typeof file === 'string') return { silent: `${main}: ${file}` }
  const files = [main]
  // Releases differ in how they merge imported sections; every file's word is kept, and a disagreement is seen later.
  const handlers = [...(file.handlers ?? [])]
  for (const path of await expandImports(o, main, file.imports)) {
    const imported = readContainerdFile(await parseFile(o, path))
    if (typeof imported === 'string') return { silent: `${path}: ${imported}` }
    if (imported.handlers === undefined) continue
    files.push(path)
    handlers.push(...imported.handlers)
  }
  return { handlers: handlers.length === 0 ? containerdDefault : handlers, files }
}

/** `conf.d/*.toml` beside the main file, or plain paths. */
async function expandImports(
  o: DriverFinderOptions,
  main: string,
  imports: readonly string[],
): Promise<readonly string[]> {
  const directory = main.slice(0, main.lastIndexOf('/'))
  const found: string[] = []
  for (const entry of imports) {
    const path = entry.startsWith('/') ? entry : `${directory}/${entry}`
    const at = path.lastIndexOf('/')
    const pattern = path.slice(at + 1)
    if (!pattern.includes('*')) found.push(path)
    else {
      const matches = new RegExp(`^${pattern.split('*').map(escapeText).join('.*')}$`)
      const listed = (await o.files.list(path.slice(0, at))) ?? []
      found.push(...listed.filter((f) => matches.test(f.name)).map((f) => f.path))
    }
  }
  return found.slice(0, maxImports)
}

const escapeText = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

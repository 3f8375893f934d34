// Where pods come from on this node: the files of staticPodPath. Hidden and broken files are reported and skipped; a file
// that was sound and is broken now keeps the pods that it had.
import { type FieldPlace, fieldLines } from '../../../config/field-lines.js'
import { type ManifestDocument, maxManifestBytes, readManifest } from '../../../config/read-manifest.js'
import { keelsonError, rethrowBug } from '../../../core/errors.js'
import { formatPodProblems, parsePodSpec } from '../../../core/pod/spec/parse.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { findPods } from '../../../core/pod/workload.js'
import { pause } from '../../../core/units/retry.js'
import { formatTimeNano } from '../../../core/units/rfc3339.js'
import type { Clock } from '../../../ports/clock.js'
import type { FileEntry, Files } from '../../../ports/files.js'
import type { Log } from '../../../ports/log.js'
import { identifyStaticPod } from '../decide/static-pod.js'

export interface StaticSourceOptions {
  /** A directory, or one file. */
  readonly path: string
  readonly nodeName: string
  readonly rescanMs: number
  readonly resize: 'Recreate' | 'InPlace'
  readonly maxPods: number
  readonly digest: (text: string) => string
  readonly files: Pick<Files, 'read' | 'watch'>
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
}

export interface StaticPod {
  readonly spec: PodSpec
  readonly file: string
  /** When the file was last changed, by the wall clock. */
  readonly changedAtNanos: bigint
  /** How often its file was removed and written again. */
  readonly recreated: number
}

export interface StaticPods {
  /** By uid. */
  readonly pods: ReadonlyMap<string, StaticPod>
  /** Files that hold no sound pod now: what once came from them is neither ended nor restarted. */
  readonly broken: ReadonlySet<string>
}

const retryMs = 5_000

interface KnownFile {
  readonly print: string
  readonly pods: readonly StaticPod[]
  readonly problem: string | undefined
  readonly recreated: number
}

/** Each time the files change; first when they were read for the first time. */
export async function* watchStaticPods(o: StaticSourceOptions): AsyncGenerator<StaticPods, void, undefined> {
  const known = new Map<string, KnownFile>()
  const { directory, only } = placeOf(o.path)
  const reported = new Set<string>()
  for await (const entries of watchPatiently(directory, o)) {
    const wanted = entries.filter((e) => only === undefined || isAtOrBelow(e, o.path))
    reportHidden(wanted, reported, o.log)
    const visible = wanted.filter((e) => !e.name.startsWith('.'))
    const paths = new Set(visible.map((e) => e.path))
    for (const path of [...known.keys()]) if (!paths.has(path)) known.delete(path)
    for (const entry of visible) {
      const print = `${entry.size} ${entry.mtimeNanos} ${entry.inode} ${entry.unreadable ?? ''}`
      const before = known.get(entry.path)
      if (before?.print !== print || entry.recreated === true)
        known.set(entry.path, await readFile(entry, print, before, o))
    }
    yield gather(known, o)
  }
}

/** A directory that cannot be listed says nothing about its pods: they stay, and it is tried again. */
async function* watchPatiently(
  directory: string,
  { files, clock, log, rescanMs, signal }: StaticSourceOptions,
): AsyncGenerator<readonly FileEntry[], void, undefined> {
  while (!signal.aborted) {
    try {
      yield* files.watch(directory, { rescanMs, signal })
      return
    } catch (e) {
      const error = rethrowBug(e)
      log.error('failed to read staticPodPath; pods are left unchanged', { directory, error })
    }
    await pause(clock, retryMs, signal)
  }
}

/** staticPodPath may name a directory or a single file; which one is only known once it is there. */
const placeOf = (path: string): { readonly directory: string; readonly only: string | undefined } => {
  const plain = path.replace(/\/+$/, '')
  return /\.(ya?ml|json)$/.test(plain)
    ? { directory: plain.slice(0, plain.lastIndexOf('/')) || '/', only: plain }
    : { directory: plain, only: undefined }
}

const isAtOrBelow = (entry: FileEntry, path: string): boolean => entry.path === path.replace(/\/+$/, '')

function reportHidden(entries: readonly FileEntry[], reported: Set<string>, log: Log): void {
  for (const { path, name } of entries)
    if (name.startsWith('.') && !reported.has(path)) {
      reported.add(path)
      log.info('skipping a hidden file in staticPodPath', { file: path })
    }
}

async function readFile(
  entry: FileEntry,
  print: string,
  before: KnownFile | undefined,
  o: StaticSourceOptions,
): Promise<KnownFile> {
  const recreated = (before?.recreated ?? 0) + (entry.recreated === true ? 1 : 0)
  try {
    if (entry.unreadable !== undefined)
      throw keelsonError(
        'input.unreadable',
        `look at ${entry.path}: ${entry.unreadable}; check the file system`,
        {
          path: entry.path,
        },
      )
    const bytes = await o.files.read(entry.path, maxManifestBytes)
    if (bytes === undefined) return { print: '', pods: [], problem: undefined, recreated }
    const pods = podsOf(entry, bytes, o).map((pod) => ({ ...pod, recreated }))
    return { print, pods, problem: undefined, recreated }
  } catch (e) {
    const error = rethrowBug(e)
    if (before?.problem !== error.message)
      o.log.error('invalid static pod manifest; its pods are left unchanged', {
        file: entry.path,
        error,
      })
    return { print, pods: before?.pods ?? [], problem: error.message, recreated }
  }
}

const podsOf = (
  { path: file, mtimeNanos }: FileEntry,
  bytes: Uint8Array,
  o: StaticSourceOptions,
): readonly Omit<StaticPod, 'recreated'>[] =>
  readPodSpecs(file, bytes).map((spec) => ({
    file,
    changedAtNanos: mtimeNanos,
    spec: identifyStaticPod(spec, {
      file,
      nodeName: o.nodeName,
      seenAt: formatTimeNano(o.clock.nowNanos()),
      resize: o.resize,
      digest: o.digest,
    }),
  }))

/** A reason to refuse a manifest, where it is written. */
export interface ManifestProblem {
  readonly line: number
  readonly text: string
}

/** The pods that a manifest holds, or an error with every problem of every document, each with its line. */
export function readPodSpecs(file: string, bytes: Uint8Array): readonly PodSpec[] {
  const documents = readManifest({ path: file, bytes })
  // An editor or a copy that is under way shows an empty file for a moment.
  if (documents.length === 0)
    throw keelsonError('pod.invalid', `read ${file}: it is empty; remove it to end its pods`)
  const found: { readonly place: FieldPlace; readonly text: string }[] = []
  const specs = documents.flatMap((document) => {
    const { pods, refused } = podsIn(document)
    found.push(...refused.map((text) => ({ place: { document: document.line, path: '' }, text })))
    return pods.flatMap(({ pod, prefix }) => {
      const parsed = parsePodSpec({ apiVersion: 'v1', ...pod })
      if (parsed.kind === 'pod') return [parsed.spec]
      for (const problem of parsed.problems)
        found.push({
          place: { document: document.line, path: `${prefix}${problem.path}` },
          text: formatPodProblems([problem]),
        })
      return []
    })
  })
  if (found.length === 0) return specs
  const places = found.map(({ place }) => place)
  const lines = fieldLines({ path: file, bytes }, places)
  const problems = found
    .map(({ text, place }, i): ManifestProblem => ({ line: lines[i] ?? place.document, text }))
    .sort((a, b) => a.line - b.line)
  const list = problems.map(({ line, text }) => `${file}:${line}: ${text}`).join('\n')
  throw keelsonError('pod.invalid', `read ${list}`, { file, problems })
}

interface FoundPod {
  readonly pod: Readonly<Record<string, unknown>>
  /** Of its fields, below the document's root. */
  readonly prefix: string
}

function podsIn({ content }: ManifestDocument): {
  readonly pods: readonly FoundPod[]
  readonly refused: readonly string[]
} {
  const notAPod = (what: string): string => `${what} is not a Pod; only pods run here`
  try {
    const { pods, skipped } = findPods(content)
    const { kind, items } = (content ?? {}) as { readonly kind?: unknown; readonly items?: unknown }
    const isList = typeof kind === 'string' && kind.endsWith('List')
    const isFlat = isList && Array.isArray(items) && items.length === pods.length
    const isOther = typeof kind === 'string' && kind !== 'Pod' && !isList
    return {
      pods: isOther ? [] : pods.map(({ pod }, i) => ({ pod, prefix: isFlat ? `items[${i}].` : '' })),
      // A kind without pods is more likely a slip than a wish, and silence would hide it.
      refused: [...skipped, ...(isOther ? pods.map(({ origin }) => origin) : [])].map(notAPod),
    }
  } catch (e) {
    const error = rethrowBug(e)
    return { pods: [], refused: [error.message] }
  }
}

/** Two pods of one name cannot run on one node: the first file in name order has it. */
function gather(known: ReadonlyMap<string, KnownFile>, o: StaticSourceOptions): StaticPods {
  const pods = new Map<string, StaticPod>()
  const names = new Map<string, string>()
  const files = [...known].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [file, { pods: found }] of files)
    for (const wanted of found) {
      const { namespace, name, uid } = wanted.spec.pod
      const holder = names.get(`${namespace}/${name}`)
      if (holder !== undefined)
        o.log.error('duplicate pod name; skipping the pod of this file', {
          pod: `${namespace}/${name}`,
          file,
          holder,
        })
      else if (pods.size >= o.maxPods)
        o.log.error('maxPods reached; skipping the pod', {
          pod: `${namespace}/${name}`,
          maxPods: o.maxPods,
        })
      else {
        names.set(`${namespace}/${name}`, file)
        pods.set(uid, wanted)
      }
    }
  const broken = new Set([...known].filter(([, k]) => k.problem !== undefined).map(([file]) => file))
  return { pods, broken }
}

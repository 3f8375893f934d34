// Reads a container's log as /containerLogs gives it: from a line count or a time on, to a number of bytes, with or without
// times, and on as the container goes on. Memory is bounded by one piece of the file, whatever its size.
import { parseCriLine, writtenText } from '../../core/cri/log-line.js'
import { keelsonError } from '../../core/errors.js'
import { pause } from '../../core/units/retry.js'
import { parseTime } from '../../core/units/rfc3339.js'
import type { OpenLog, PodHost } from '../../ports/pod-host.js'
import type { LogRequest } from '../../serve/endpoints/container-logs.js'
import type { PodContext } from '../pods/context.js'
import type { ObservedContainer } from '../pods/decide/observed.js'
import type { PodRunner } from '../pods/run/runner.js'
import { containerLogPath, podLogDirectory } from '../pods/to-cri/names.js'
import { chooseLog } from './decide/choose-log.js'

const pieceBytes = 64 * 1024
const followMs = 200
/** A rotation is over within a call to the runtime. */
const openTries = 5
/** A runtime cuts lines at 16 KiB; a file without a newline in 1 MiB is not a log. */
const maxLine = 1024 * 1024

type LogContext = Pick<PodContext, 'host' | 'paths' | 'clock'>

/** Throws at once when there is no such log; the lines come as they are read. */
export async function readContainerLog(
  request: LogRequest,
  runner: Pick<PodRunner, 'find' | 'pods'>,
  c: LogContext,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  for (let tries = 1; ; tries += 1) {
    const { path, isRunning } = findLog(request, runner, c)
    // A failure is said with a status of its own: once the lines come it is too late for one.
    const file = await c.host.openLog(path)
    await file?.close()
    // An old instance may just be removed, its log first: a moment later another one is the previous.
    if (file !== undefined || !request.previous || tries === openTries || signal.aborted)
      return lines(path, request, c, isRunning, signal)
    await pause(c.clock, followMs, signal)
  }
}

function findLog(
  request: LogRequest,
  runner: Pick<PodRunner, 'find' | 'pods'>,
  { paths }: LogContext,
): { readonly path: string; isRunning(): boolean } {
  const { namespace, pod: name, container } = request
  const document = runner
    .pods()
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name)
  const choice = chooseLog(request, runner.find(namespace, name), document)
  if (choice.kind === 'none') throw keelsonError(choice.code, choice.message)
  const { pod, container: chosen } = choice
  return {
    path: `${podLogDirectory(paths, pod)}/${containerLogPath(container, chosen.attempt)}`,
    isRunning() {
      const now: ObservedContainer | undefined = runner
        .find(namespace, name)
        ?.containers.find((one) => one.id === chosen.id)
      return now?.state === 'running' || now?.state === 'created'
    },
  }
}

async function* lines(
  path: string,
  request: LogRequest,
  c: LogContext,
  isRunning: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let rest = request.limitBytes ?? Number.POSITIVE_INFINITY
  for await (const line of rawLines(path, request, c, isRunning, signal)) {
    const parsed = parseCriLine(line)
    if (parsed === undefined) continue
    const time = request.sinceNanos === undefined ? undefined : parseTime(parsed.time)
    if (request.sinceNanos !== undefined && time !== undefined && time < request.sinceNanos) continue
    const written = writtenText(parsed)
    const text = request.timestamps ? `${parsed.time} ${written}` : written
    const bytes = new TextEncoder().encode(text)
    if (bytes.length > rest) {
      yield new TextDecoder().decode(bytes.subarray(0, rest))
      return
    }
    rest -= bytes.length
    yield text
  }
}

async function* rawLines(
  path: string,
  request: LogRequest,
  { host, clock }: LogContext,
  isRunning: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const nap = () => pause(clock, followMs, signal)
  let file = await openSoon(path, host, nap, () => isRunning() && !signal.aborted)
  let next: OpenLog | undefined
  try {
    let offset = file === undefined ? 0 : await firstOffset(file, request.tailLines)
    let left: Uint8Array = new Uint8Array()
    while (!signal.aborted) {
      // Asked before the read: what was written before the end is then certainly read.
      const mayGrow = request.follow && isRunning()
      const piece = await file?.read(offset, pieceBytes)
      // Cut off in place: what is there now is read from its beginning.
      if (piece !== undefined && piece.size < offset) {
        offset = 0
        left = new Uint8Array()
        continue
      }
      const bytes = piece?.bytes ?? new Uint8Array()
      offset += bytes.length
      const { whole, rest } = splitLines(left, bytes)
      yield* whole
      left = rest.length > maxLine ? new Uint8Array() : rest
      if (bytes.length > 0) continue
      if (!request.follow) return
      if (next !== undefined) {
        await file?.close()
        file = next
        next = undefined
        offset = 0
        left = new Uint8Array()
        continue
      }
      // Rotated: the runtime makes the new file before it leaves the old one, so the old one is read to its end once more.
      next = await openOther(path, file, host)
      if (next === undefined && !mayGrow) return
      if (mayGrow) await nap()
    }
  } finally {
    await file?.close()
    await next?.close()
  }
}

/** Between the two steps of a rotation there is no file for a moment. */
async function openSoon(
  path: string,
  host: Pick<PodHost, 'openLog'>,
  nap: () => Promise<void>,
  mayCome: () => boolean,
): Promise<OpenLog | undefined> {
  for (let tries = 0; ; tries += 1) {
    const file = await host.openLog(path)
    if (file !== undefined || tries === openTries || !mayCome()) return file
    await nap()
  }
}

/** The file that is now in the place of this one; undefined: still the same, or none. */
async function openOther(
  path: string,
  file: OpenLog | undefined,
  host: Pick<PodHost, 'openLog'>,
): Promise<OpenLog | undefined> {
  const now = await host.openLog(path)
  if (now?.inode !== file?.inode) return now
  await now?.close()
  return undefined
}

function splitLines(
  left: Uint8Array,
  bytes: Uint8Array,
): { readonly whole: readonly string[]; readonly rest: Uint8Array } {
  const all = new Uint8Array(left.length + bytes.length)
  all.set(left)
  all.set(bytes, left.length)
  const end = all.lastIndexOf(newline) + 1
  const text = new TextDecoder().decode(all.subarray(0, end))
  return { whole: text === '' ? [] : text.slice(0, -1).split('\n'), rest: all.slice(end) }
}

const newline = 10

/** Where the last `count` lines begin, found from the end. */
async function firstOffset(file: OpenLog, count: number | undefined): Promise<number> {
  if (count === undefined) return 0
  const { size } = await file.read(0, 0)
  if (count <= 0) return size
  let found = 0
  for (let end = size; end > 0; ) {
    const from = Math.max(0, end - pieceBytes)
    const { bytes } = await file.read(from, end - from)
    for (let i = bytes.length - 1; i >= 0; i -= 1) {
      // The newline that ends the last line begins no line.
      if (bytes[i] !== newline || from + i === size - 1) continue
      found += 1
      if (found === count) return from + i + 1
    }
    end = from
  }
  return 0
}

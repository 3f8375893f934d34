// `keelson top`: builds the reader and the terminal, and hands them to src/top.
import { hostname } from 'node:os'
import { ReadStream, WriteStream } from 'node:tty'
import { Command, Option } from 'commander'
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { unifiedHierarchy } from '../../adapters/cgroups/hierarchy.js'
import { CgroupFsTree, createCgroupTree } from '../../adapters/cgroups/tree.js'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { createLogTail } from '../../adapters/files/log-tail.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { openTerminal } from '../../adapters/terminal/terminal.js'
import type { LiveSnapshot } from '../../core/dashboard/model.js'
import { keelsonError } from '../../core/errors.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Clock } from '../../ports/clock.js'
import { createLiveReader, type LiveParts, type LiveReader } from '../../serve/dashboard/dashboard.js'
import type { Focus } from '../../serve/dashboard/read-pods.js'
import { columns, sortKeys } from '../../top/columns.js'
import { formatOnce } from '../../top/once.js'
import { type ReadLog, readLogFile } from '../../top/read-log.js'
import { runTop } from '../../top/run-top.js'
import { initialState, type Layout, type TopState } from '../../top/state.js'
import { ansi, monochrome } from '../../top/style.js'
import { crictlEndpoint } from '../crictl-config.js'
import type { Io } from '../io.js'
import { type ReachOptions, withReach } from '../pods/find-kubelet.js'
import { createKubeletClient } from '../pods/kubelet-client.js'
import { untilSignal } from '../process/signals.js'
import { findRunning } from '../up/running.js'
import { version } from '../version.js'
import { readServedLog, snapshotsOf } from './from-kubelet.js'

interface Options extends ReachOptions {
  readonly runtimeEndpoint?: string
  readonly interval: string
  readonly sort: string
  readonly filter: string
  readonly view: Layout
  readonly once?: boolean
  readonly output: 'table' | 'json'
  readonly cgroupMount?: string
  readonly procMount: string
}

const description = `Show live resource usage of pods and containers, from any CRI socket: CPU, working set, percent of the request and of
memory.high, throttling, pressure, network and I/O. Press ? for keys and columns.

Without flags it shows a running keelson up, else the runtime of $CONTAINER_RUNTIME_ENDPOINT, of /etc/crictl.yaml, or
containerd's. With --server or --root-dir it asks a Keelson kubelet.`

const examples = `
Examples:
  keelson top
  keelson top --runtime-endpoint unix:///run/crio/crio.sock --sort throttle
  keelson top --server https://127.0.0.1:10250
  keelson top --once -o json | jq '.pods[] | [.name, .values.memory.high]'`

const containerdEndpoint = 'unix:///run/containerd/containerd.sock'

export const create = (io: Io): Command =>
  withReach(new Command('top').description(description))
    .option('--runtime-endpoint <endpoint>', 'CRI socket of the runtime')
    .option('--interval <seconds>', 'seconds between two samples', '2')
    .addOption(new Option('--sort <column>', 'column to sort by').choices([...sortKeys]).default('mem'))
    .option('--filter <words>', 'show only pods whose name, namespace or containers contain every word', '')
    .addOption(
      new Option('--view <view>', 'rows to show').choices(['pods', 'tree', 'containers']).default('pods'),
    )
    .option('--once', 'print the values once and exit')
    .addOption(
      new Option('-o, --output <format>', 'output format of --once')
        .choices(['table', 'json'])
        .default('table'),
    )
    .option('--cgroup-mount <directory>', 'where cgroup v2 of the host is mounted')
    .option('--proc-mount <directory>', 'where proc of the host is mounted', '/proc')
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      await top(options, io)
    })

const noParts: LiveParts = {
  driver: () => ({ absent: 'top only lists pods; see `keelson doctor`' }),
  config: () => ({ absent: 'top has no configuration' }),
  sources: () => ({ absent: 'top reads cgroups itself' }),
  rpcs: () => ({ absent: 'top is not the CRI server' }),
  warnings: () => ({ absent: 'see `keelson doctor`' }),
}

function openCgroups(mount: string | undefined): CgroupTree | undefined {
  try {
    if (mount !== undefined) return new CgroupFsTree(unifiedHierarchy(mount))
    return createCgroupTree(readCgroupLayout())
  } catch {
    // Somewhere without cgroups the runtime's own values are all there is.
    return undefined
  }
}

/** Where the values come from: a kubelet by its flags or of `keelson up`, else a runtime. */
type Origin =
  | { readonly kind: 'kubelet'; readonly reach: ReachOptions }
  | { readonly kind: 'runtime'; readonly endpoint: string }

export function originOf(options: ReachOptions & Pick<Options, 'runtimeEndpoint'>, env: Io['env']): Origin {
  const { runtimeEndpoint, server, rootDir, tokenFile, certificate } = options
  if (runtimeEndpoint !== undefined) return { kind: 'runtime', endpoint: runtimeEndpoint }
  const isNamed = [server, rootDir, tokenFile, certificate].some((flag) => flag !== undefined)
  if (isNamed) return { kind: 'kubelet', reach: options }
  if (env.CONTAINER_RUNTIME_ENDPOINT) return { kind: 'runtime', endpoint: env.CONTAINER_RUNTIME_ENDPOINT }
  if (findRunning() !== undefined) return { kind: 'kubelet', reach: {} }
  return { kind: 'runtime', endpoint: crictlEndpoint(env) ?? containerdEndpoint }
}

async function top(options: Options, io: Io): Promise<void> {
  const seconds = Number(options.interval)
  if (!(seconds >= 0.2 && seconds <= 3600))
    throw keelsonError('usage.invalid', `--interval ${options.interval}: use 0.2 to 3600 seconds`)
  const initial: TopState = {
    ...initialState,
    sort: options.sort,
    ascending: options.sort === 'name',
    filter: options.filter,
    layout: options.view,
  }
  const origin = originOf(options, io.env)
  if (origin.kind === 'runtime') await topOfRuntime(options, origin.endpoint, seconds, initial, io)
  else {
    const client = createKubeletClient(origin.reach)
    const reader = snapshotsOf(client, seconds * 1000)
    const source = { reader, readLog: readServedLog(client), name: 'the kubelet', onView: () => undefined }
    await show(options, source, createClock(), initial, io)
  }
}

async function topOfRuntime(
  options: Options,
  endpoint: string,
  seconds: number,
  initial: TopState,
  io: Io,
): Promise<void> {
  const cgroups = openCgroups(options.cgroupMount)
  const clock = createClock()
  const client = createCriClient(endpoint, { timeoutMs: 5_000 })
  let state = initial
  let visible: ReadonlySet<string> | undefined
  const isJson = options.once === true && options.output === 'json'
  const reader = createLiveReader({
    process: 'top',
    version,
    nodeName: hostname().trim().toLowerCase(),
    client,
    cgroups,
    procfs: createProcfs({ proc: options.procMount }),
    clock,
    parts: noParts,
    periodMs: seconds * 1000,
    listMs: Math.max(4_000, seconds * 1000),
    wantsTree: () => isJson || state.view === 'explain',
    focus: () => focusOf(state, visible),
  })
  const onView: Source['onView'] = (next, seen) => {
    state = next
    visible = seen
  }
  try {
    // The live view waits for an unreachable runtime; --once fails at once with the reason.
    if (options.once === true) await client.runtime.version({ version: 'v1' })
    const readLog = readLogFile(reader, createLogTail())
    await show(options, { reader, readLog, name: endpoint, onView }, clock, initial, io)
  } finally {
    client.close()
    cgroups?.close()
  }
}

interface Source {
  readonly reader: Pick<LiveReader, 'take' | 'periodMs'>
  readonly readLog: ReadLog
  readonly name: string
  readonly onView: (state: TopState, visible: ReadonlySet<string>) => void
}

const show = (options: Options, source: Source, clock: Clock, initial: TopState, io: Io): Promise<void> =>
  options.once === true ? printOnce(options, source, initial, clock, io) : watch(source, clock, initial, io)

/** Nothing is left out before the first screen, and for --once. */
function focusOf({ sort }: TopState, visible: ReadonlySet<string> | undefined): Focus | undefined {
  if (visible === undefined || visible.size === 0) return undefined
  const part = columns.find((c) => c.id === sort)?.part ?? 'cpu'
  return { isFull: (id) => visible.has(id), parts: new Set([part]) }
}

/** Rates need two readings. An unreachable runtime is an error here. */
async function printOnce(
  options: Options,
  { reader, name }: Source,
  state: TopState,
  clock: Clock,
  io: Io,
): Promise<void> {
  const { signal } = new AbortController()
  let snapshot: LiveSnapshot | undefined
  for (let tries = 0; tries < 20 && snapshot?.runtime.state !== 'ready'; tries++)
    snapshot = await reader.take(signal)
  if (snapshot?.runtime.state !== 'ready')
    throw keelsonError(
      'runtime.unavailable',
      `list the pods of ${name}: ${snapshot?.runtime.problem ?? 'no response'}`,
    )
  await clock.sleep(Math.min(reader.periodMs, 1_000))
  snapshot = await reader.take(signal)
  io.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify(snapshot, null, 2)}\n`
      : formatOnce(snapshot, state, io.stdout.columns ?? 160),
  )
}

async function watch(
  { reader, readLog, onView }: Source,
  clock: Clock,
  initial: TopState,
  io: Io,
): Promise<void> {
  const { stdin, stdout } = io
  if (!(stdin instanceof ReadStream) || !(stdout instanceof WriteStream))
    throw keelsonError('usage.invalid', 'top needs a terminal; in a pipe use --once')
  const style = (io.env.NO_COLOR ?? '') === '' ? ansi : monochrome
  const run = async (signal: AbortSignal): Promise<void> => {
    const terminal = openTerminal(stdin, stdout)
    try {
      await runTop({ reader, terminal, readLog, clock, style, initial, signal, onView })
    } finally {
      terminal.close()
    }
  }
  await untilSignal(run, { names: ['SIGINT', 'SIGTERM', 'SIGHUP'] })
}

// A containerd of our own, on the host or inside a machine: private root, state, socket, bridge and images, and nothing
// of it left after close(). On the host a guard process cleans up even when this process is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keelsonError } from '../../core/errors.js'
import { imageReferences } from '../images/images.js'
import { findCommand } from '../packages.js'
import { lastLines, mustRun, startProgram } from '../process.js'
import { agentCommand } from '../self.js'
import { bridgePrefix, cleanContainerd, rememberHost } from './clean.js'
import { type ContainerdPlan, formatContainerdConfig, formatNetwork, loopbackNetwork } from './config.js'

export interface PrivateContainerdOptions {
  /** Where everything goes; a new temporary directory by default. Removed by close(). */
  readonly dir?: string
  /** Image archives to import; see ensureImages(). */
  readonly archives?: readonly string[]
  readonly bridge?: string
  readonly subnet?: string
  readonly systemdCgroup?: boolean
  readonly runtime?: 'runc' | 'crun'
  readonly snapshotter?: string
  readonly statsPeriodS?: number
  readonly sandboxImage?: string
  readonly socket?: string
  readonly root?: string
  readonly log?: string
  /** Directory with a hosts.toml for each registry that images are pulled from. */
  readonly registries?: string
  /** False inside a machine, which is thrown away whole. */
  readonly guard?: boolean
  readonly startTimeoutMs?: number
  readonly signal?: AbortSignal
}

export interface PrivateContainerd {
  readonly socket: string
  /** The socket as CONTAINER_RUNTIME_ENDPOINT wants it. */
  readonly endpoint: string
  readonly dir: string
  readonly bridge: string
  readonly log: string
  pid(): number
  /** Ends the daemon only; its containers go on, as after a crash. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Starts it again on the same directories. */
  start(): Promise<void>
  /** The names of what it held. */
  importImages(archive: string): Promise<readonly string[]>
  /** Ends daemon, shims and containers and removes everything that this instance made. */
  close(): Promise<void>
}

const capSysResource = 24n

/** Without this capability runc cannot lower a pause container's OOM score. */
export async function lacksSysResource(): Promise<boolean> {
  const status = await readFile('/proc/self/status', 'utf8')
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  return (mask & (1n << capSysResource)) === 0n
}

export async function startPrivateContainerd(
  options: PrivateContainerdOptions = {},
): Promise<PrivateContainerd> {
  const plan = await planContainerd(options)
  const signal = options.signal ?? new AbortController().signal
  for (const dir of [plan.root, join(plan.dir, 'net.d'), join(plan.dir, 'state')])
    await mkdir(dir, { recursive: true })
  await writeFile(join(plan.dir, 'config.toml'), formatContainerdConfig(plan))
  await writeFile(join(plan.dir, 'net.d/10-lab.conflist'), formatNetwork(plan))
  await writeFile(join(plan.dir, 'net.d/99-loopback.conf'), loopbackNetwork)
  await rememberHost(plan)
  const guard = options.guard === false ? undefined : await startGuard(plan.dir)
  let daemon: ChildProcess | undefined

  const start = async (): Promise<void> => {
    daemon = await startDaemon(plan, options.startTimeoutMs ?? 60_000, signal)
  }
  const kill = async (name: NodeJS.Signals): Promise<void> => {
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return
    const gone = once(daemon, 'exit')
    daemon.kill(name)
    await gone
  }
  const close = async (): Promise<void> => {
    if (daemon !== undefined && daemon.exitCode === null && daemon.signalCode === null) {
      await Promise.race([kill('SIGTERM'), sleep(3000)])
      await kill('SIGKILL')
    }
    await cleanContainerd(plan.dir)
    guard?.disconnect()
  }
  const importImages = (archive: string): Promise<readonly string[]> =>
    importArchive(plan.socket, archive, signal, plan.snapshotter)
  try {
    await start()
    for (const archive of options.archives ?? []) await importImages(archive)
  } catch (e) {
    await close()
    throw e
  }
  return {
    socket: plan.socket,
    endpoint: `unix://${plan.socket}`,
    dir: plan.dir,
    bridge: plan.bridge,
    log: plan.log,
    pid: () => daemon?.pid ?? 0,
    kill,
    start,
    importImages,
    close,
  }
}

const defaultSnapshotter = 'overlayfs'

/** Puts the images of a docker-archive or OCI tar into a containerd, for Kubernetes; the names of what was in it. */
export async function importArchive(
  socket: string,
  archive: string,
  signal: AbortSignal,
  snapshotter = defaultSnapshotter,
): Promise<readonly string[]> {
  const ctr = ['ctr', '--address', socket, '--namespace', 'k8s.io']
  const output = await mustRun([...ctr, 'image', 'import', '--snapshotter', snapshotter, archive], { signal })
  return [...output.matchAll(/^unpacking (\S+) /gm)].map(([, name]) => name ?? '')
}

async function planContainerd(options: PrivateContainerdOptions): Promise<ContainerdPlan> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'keelson-containerd-')))
  const id = randomBytes(4)
  const runtime = findCommand(options.runtime ?? 'runc')
  if (findCommand('containerd') === undefined || runtime === undefined)
    throw keelsonError(
      'lab.missing',
      'containerd and runc are not installed; run: apt-get install containerd runc',
      {
        missing: ['containerd', 'runc'],
      },
    )
  return {
    dir,
    root: options.root ?? join(dir, 'root'),
    socket: options.socket ?? join(dir, 'containerd.sock'),
    bridge: options.bridge ?? `${bridgePrefix}${id.toString('hex')}`,
    subnet: options.subnet ?? `10.${88 + ((id[0] ?? 0) % 32)}.${id[1] ?? 0}.0/24`,
    network: `keelson-${id.toString('hex')}`,
    systemdCgroup: options.systemdCgroup ?? false,
    runtime,
    snapshotter: options.snapshotter ?? defaultSnapshotter,
    statsPeriodS: options.statsPeriodS ?? 10,
    restrictOomScoreAdj: await lacksSysResource(),
    sandboxImage: options.sandboxImage ?? imageReferences.pause,
    log: options.log ?? join(dir, 'containerd.log'),
    registries: options.registries,
  }
}

async function startDaemon(
  plan: ContainerdPlan,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ChildProcess> {
  const log = openSync(plan.log, 'a')
  const daemon = startProgram(['containerd', '--config', join(plan.dir, 'config.toml')], {
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  await writeFile(join(plan.dir, 'containerd.pid'), String(daemon.pid ?? ''))
  const until = performance.now() + timeoutMs
  while (!(await answers(plan.socket))) {
    if (daemon.exitCode !== null || daemon.signalCode !== null || performance.now() > until) {
      daemon.kill('SIGKILL')
      const text = await readFile(plan.log, 'utf8').catch(() => '')
      throw keelsonError(
        'lab.containerd',
        `containerd did not start; the end of ${plan.log}:\n${lastLines(text, 12)}`,
      )
    }
    await sleep(30, undefined, { signal })
  }
  return daemon
}

/** containerd listens only after its plugins are loaded, so that a connection is the sign of a working daemon. */
const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(socket)
    const end = (ok: boolean): void => {
      probe.destroy()
      resolve(ok)
    }
    probe.on('connect', () => end(true)).on('error', () => end(false))
  })

/** A process in a separate session that waits for its channel to close, and cleans up if the parent did not. */
async function startGuard(dir: string): Promise<ChildProcess> {
  const [command, ...args] = await agentCommand()
  if (command === undefined) throw new Error('the agent has no command')
  const guard = spawn(command, [...args, 'guard', dir], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  await once(guard, 'message')
  guard.unref()
  guard.channel?.unref()
  return guard
}

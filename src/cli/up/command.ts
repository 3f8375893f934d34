// `keelson up`: checks the machine, installs missing packages, runs a node on the host or in the lab, and removes it on
// Ctrl-C.
import { join, resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { keelsonError } from '../../core/errors.js'
import { cacheDirectory } from '../../lab/cache.js'
import { ensureImages } from '../../lab/images/images.js'
import { ensurePackages } from '../../lab/packages.js'
import { directoriesBelow } from '../../up/kubelet-config.js'
import { type Place, planUp, type UpPlan } from '../../up/machine.js'
import { createProgress, type Progress } from '../../up/progress.js'
import type { Io } from '../io.js'
import { addAlias } from '../option-alias.js'
import { untilSignal } from '../process/signals.js'
import { startInBackground } from './background.js'
import { readMachine, requirePort } from './facts.js'
import { cleanRemains, type Demo, type HostOptions, runOnHost } from './host.js'
import { requireImageTars } from './image-tars.js'
import { keepLogs } from './keep-logs.js'
import { guestPort, type Inside, runInLab } from './lab.js'
import { takeLock } from './lock.js'
import { missingImages, readPodsDirectory, reportManifests } from './manifests.js'
import { writeRunning } from './running.js'
import { createDownCommand, createLogsCommand, createStatusCommand } from './running-commands.js'

interface Flags {
  readonly on?: Place
  readonly runtimeEndpoint?: string
  readonly pods?: string
  readonly imageTar: readonly string[]
  readonly demo: Demo
  readonly port: number
  readonly memory: number
  readonly inside?: string
  readonly detach?: boolean
  /** The file that this process writes to, as the child of `up -d`. */
  readonly background?: string
}

const description = `Run a whole node on this machine: a private containerd, the CRI server, the kubelet with Memory QoS and stats from CRI,
and three demo pods. As root on a host with cgroup v2 it runs on the host. Otherwise it runs in a lab machine, a real
kernel booted as a process. Ctrl-C stops and removes everything. The other commands (get, logs, exec, explain --live, top,
token, dashboard) find the running node without flags.`

const examples = `
Examples:
  keelson up
  keelson up -d                       in the background; then keelson up status, logs, down
  keelson up --on lab --port 10350
  keelson up --pods ./manifests
  keelson up --pods ./manifests --image-tar nginx.tar     with your own images: docker save nginx:1.27 -o nginx.tar
  keelson up --demo pressure          Memory QoS off and on, in numbers read from the kernel
  keelson up --runtime-endpoint unix:///run/containerd/containerd.sock --no-demo`

const healthzPort = 10248
/** Three quarters of it are used by the node with its demo; with less, the lab's kernel ends processes of the node. */
const leastMemoryMiB = 512

const portNumber = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1 || n > 65_535)
    throw new InvalidArgumentError('use a port from 1 to 65535.')
  return n
}
const memorySize = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < leastMemoryMiB)
    throw new InvalidArgumentError(
      `use whole MiB, at least ${leastMemoryMiB}: the node and its images are in that memory`,
    )
  return n
}

export const create = (io: Io): Command =>
  addAlias(upCommand(io), '--container-runtime-endpoint', '--runtime-endpoint')

const upCommand = (io: Io): Command =>
  new Command('up')
    .description(description)
    .addOption(new Option('--on <place>', 'where to run the node').choices(['host', 'lab']))
    .option('--runtime-endpoint <endpoint>', 'use this runtime instead of a private containerd (host only)')
    .option(
      '--pods <dir>',
      'manifests to run instead of the demo pods; the lab has no network: use keelson.local/* images or --image-tar',
    )
    .option(
      '--image-tar <file>',
      'load the images of this archive (docker save, ctr images export); may be repeated',
      (file: string, before: readonly string[]) => [...before, file],
      [],
    )
    .addOption(
      new Option(
        '--demo <demo>',
        'pressure: run the pods under memory pressure, with Memory QoS off and then on',
      )
        .choices(['pods', 'pressure'])
        .default('pods'),
    )
    .option('--no-demo', 'run no demo pods')
    .option('--port <port>', 'port of the kubelet on 127.0.0.1', portNumber, guestPort)
    .option('--memory <MiB>', `memory of the lab machine, at least ${leastMemoryMiB}`, memorySize, 2048)
    .option('-d, --detach', 'run in the background, and return when the node is ready')
    .addOption(new Option('--inside <json>').hideHelp())
    .addOption(new Option('--background <file>').hideHelp())
    .addHelpText('after', examples)
    .action((flags: Flags) => (flags.detach === true ? detach(flags, io) : runUp(flags, io)))
    .addCommand(createStatusCommand(io).summary('show the running node'))
    .addCommand(createDownCommand(io).summary('stop the running node and remove it'))
    .addCommand(createLogsCommand(io).summary('print the logs of the running node'))

async function detach(flags: Flags, io: Io): Promise<void> {
  if (flags.demo === 'pressure')
    throw keelsonError('usage.invalid', '--demo pressure prints a comparison and ends; run it without -d')
  await startInBackground(backgroundFlags(flags), io)
}

/** The same node; paths are still those of this directory. */
const backgroundFlags = (flags: Flags): string[] => [
  ...(flags.on === undefined ? [] : ['--on', flags.on]),
  ...(flags.runtimeEndpoint === undefined ? [] : ['--runtime-endpoint', flags.runtimeEndpoint]),
  ...['--port', String(flags.port), '--memory', String(flags.memory)],
  ...innerFlags(flags, flags.imageTar),
]

async function runUp(flags: Flags, io: Io): Promise<void> {
  const inside = flags.inside === undefined ? undefined : (JSON.parse(flags.inside) as Inside)
  const progress = createProgress({
    write: (text) => io.stdout.write(text),
    startedMs: inside?.startedMs ?? Date.now(),
    nowMs: () => Date.now(),
  })
  // The terminal was closed: writes fail, but the cleanup must go on.
  const closed = new AbortController()
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', () => closed.abort(new Error('the terminal was closed')))
  const run = async (outer: AbortSignal): Promise<void> => {
    const signal = AbortSignal.any([outer, closed.signal])
    const write = (text: string): unknown => io.stdout.write(text)
    try {
      if (inside === undefined) await fromOutside(flags, io, progress, signal)
      else await runOnHost(insideOptions(flags, inside, io), progress, write, signal)
    } catch (e) {
      if (!signal.aborted) throw e
    }
  }
  await untilSignal(run, {
    names: ['SIGINT', 'SIGTERM', 'SIGHUP'],
    onSignal(name) {
      if (!closed.signal.aborted) io.stderr.write(`\n${name}: removing everything\n`)
    },
    again: 'ignored',
  })
}

async function fromOutside(flags: Flags, io: Io, progress: Progress, signal: AbortSignal): Promise<void> {
  const endpoint = flags.runtimeEndpoint
  const startedMs = Date.now()
  if (endpoint !== undefined && flags.imageTar.length > 0)
    throw keelsonError(
      'usage.invalid',
      '--image-tar loads into the private containerd, which --runtime-endpoint replaces; load the images there: ctr --namespace k8s.io images import FILE',
    )
  const machine = await readMachine(io, endpoint !== undefined)
  const plan = planUp(machine, {
    on: flags.on,
    endpoint,
    demo: flags.demo !== false && flags.pods === undefined,
  })
  progress.step(
    'machine',
    `${plan.place === 'host' ? 'this host' : 'lab machine, a real kernel as a process'} (${plan.why})`,
  )
  // Whether an archive has an image, only containerd knows; without one there are the lab's own.
  const imagesReported = plan.place === 'lab' && flags.imageTar.length === 0
  if (flags.pods !== undefined) {
    const manifests = await readPodsDirectory(flags.pods)
    reportManifests(flags.pods, manifests, imagesReported ? missingImages(manifests) : [], progress)
  }
  const imageTars = await requireImageTars(flags.imageTar, signal)
  // Before the port: a second `keelson up` meets the port of the first one, which is not what is wrong.
  const lock = await takeLock(cleanRemains)
  const access = plan.place === 'lab' ? join(lock.dir, 'node') : undefined
  const logDir = access ?? lock.dir
  const rootDir = access ?? directoriesBelow(lock.dir).root
  const failed = async (): Promise<void> => {
    if (signal.aborted) return
    const kept = await keepLogs(logDir, cacheDirectory(io.env)).catch(() => undefined)
    if (kept !== undefined) io.stderr.write(`logs saved in ${kept}\n`)
  }
  try {
    await requirePort(flags.port)
    if (plan.place === 'host') await requirePort(healthzPort)
    await writeRunning(lock.dir, {
      place: plan.place,
      port: flags.port,
      rootDir,
      logDir,
      startedMs,
      ...(plan.place === 'host' ? { runtimeEndpoint: `unix://${directoriesBelow(lock.dir).criSocket}` } : {}),
      ...(flags.background === undefined ? {} : { output: flags.background }),
    })
    const installingSeconds = await install(plan, progress, signal)
    if (access !== undefined) {
      progress.step('kernel', 'booting, with containerd and images')
      const { port, memory: memoryMiB } = flags
      const command = commandName(io.env)
      const code = await runInLab(
        {
          runDir: lock.dir,
          access,
          port,
          memoryMiB,
          startedMs,
          installingSeconds,
          command,
          imagesReported,
          background: flags.background !== undefined,
          flags: innerFlags(flags, imageTars),
        },
        io,
        signal,
      )
      if (code !== 0) await failed()
      io.exitCode = code
    } else {
      const archives = endpoint === undefined ? [await ensureImages(cacheDirectory(io.env), signal)] : []
      await runOnHost(
        { ...hostOptions(flags, lock.dir, io), archives, imageTars, installingSeconds },
        progress,
        (text) => io.stdout.write(text),
        signal,
      )
    }
  } catch (e) {
    await failed()
    throw e
  } finally {
    await lock.release()
  }
}

async function install(
  { place, install: missing }: UpPlan,
  progress: Progress,
  signal: AbortSignal,
): Promise<number> {
  if (missing.length === 0) {
    progress.step('packages', 'all installed')
    return 0
  }
  const began = progress.seconds()
  progress.step('packages', `${missing.length} missing`)
  await ensurePackages(
    place === 'lab' ? ['uml', 'containerd', 'images', 'disk'] : ['containerd', 'images'],
    signal,
    (line) => progress.detail(line),
  )
  const seconds = progress.seconds() - began
  progress.step('packages', `installed in ${seconds.toFixed(1)} s`)
  return seconds
}

const innerFlags = ({ pods, demo }: Flags, imageTars: readonly string[]): string[] => [
  ...imageTars.flatMap((file) => ['--image-tar', resolve(file)]),
  ...(pods === undefined ? [] : ['--pods', resolve(pods)]),
  ...(demo === false ? ['--no-demo'] : ['--demo', demo]),
]

/** npm and npx both set this variable. */
const commandName = (env: Io['env']): string =>
  env.npm_lifecycle_event === undefined ? 'keelson' : 'npx keelson'

const hostOptions = (flags: Flags, runDir: string, io: Io): HostOptions => ({
  runDir,
  port: flags.port,
  healthzPort,
  endpoint: flags.runtimeEndpoint,
  archives: [],
  imageTars: flags.imageTar,
  imagesReported: false,
  podsDir: flags.pods,
  demo: flags.demo,
  disk: undefined,
  installingSeconds: 0,
  command: commandName(io.env),
  background: flags.background !== undefined,
  accessDir: undefined,
  logDir: runDir,
  shownRootDir: `${runDir}/kubelet`,
  shownPort: flags.port,
  disposable: false,
})

const insideOptions = (
  flags: Flags,
  { access, port, command, background, imagesReported, installingSeconds }: Inside,
  io: Io,
): HostOptions => ({
  ...hostOptions(flags, '/run/keelson-up', io),
  command,
  background,
  imagesReported,
  installingSeconds,
  disk: io.env.LAB_DISKS?.split(' ')[0],
  endpoint: io.env.CONTAINER_RUNTIME_ENDPOINT,
  port: guestPort,
  accessDir: access,
  logDir: access,
  shownRootDir: access,
  shownPort: port,
  disposable: true,
})

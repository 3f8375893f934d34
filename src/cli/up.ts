// `keelson up`: looks at the machine, installs what is missing, builds a node on the host or in the lab, and takes it
// away again on Ctrl-C.
import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { cacheDirectory } from '../lab/cache.js'
import { ensureImages } from '../lab/images/images.js'
import { ensurePackages } from '../lab/packages.js'
import { type Place, planUp, type UpPlan } from '../up/machine.js'
import { createProgress, type Progress } from '../up/progress.js'
import type { Io } from './io.js'
import { readMachine, requirePort } from './up/facts.js'
import { cleanRemains, type Demo, type HostOptions, runOnHost } from './up/host.js'
import { guestPort, type Inside, runInLab } from './up/lab.js'
import { takeLock } from './up/lock.js'

interface Flags {
  readonly on?: Place
  readonly containerRuntimeEndpoint?: string
  readonly pods?: string
  readonly demo: Demo
  readonly port: number
  readonly memory: number
  readonly inside?: string
}

const description = `A whole node on this machine: a private containerd, the CRI server, the kubelet with Memory QoS and stats from CRI on,
and three demo pods. On a host with root and cgroup v2 it runs there; everywhere else in a real kernel that runs as a process.
Ctrl-C stops and removes everything.`

const examples = `
Examples:
  keelson up
  keelson up --on lab --port 10350
  keelson up --pods ./manifests
  keelson up --demo pressure          what Memory QoS does, in numbers of the kernel
  keelson up --container-runtime-endpoint unix:///run/containerd/containerd.sock --no-demo`

const healthzPort = 10248

const portNumber = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1 || n > 65_535)
    throw new InvalidArgumentError('a port from 1 to 65535 is needed.')
  return n
}
const positive = (text: string): number => {
  const n = Number(text)
  if (!Number.isInteger(n) || n < 1) throw new InvalidArgumentError('a whole number above 0 is needed.')
  return n
}

export const create = (io: Io): Command =>
  new Command('up')
    .description(description)
    .addOption(new Option('--on <place>', 'where to build it').choices(['host', 'lab']))
    .option(
      '--container-runtime-endpoint <url>',
      'use this runtime instead of a private containerd (host only)',
    )
    .option('--pods <dir>', 'manifests to run in place of the demo pods')
    .addOption(
      new Option('--demo <demo>', 'pressure: the same pods under memory pressure, Memory QoS off and then on')
        .choices(['pods', 'pressure'])
        .default('pods'),
    )
    .option('--no-demo', 'no demo pods')
    .option('--port <port>', 'of the kubelet on 127.0.0.1', portNumber, guestPort)
    .option('--memory <MiB>', 'memory of the machine in the lab', positive, 2048)
    .addOption(new Option('--inside <json>').hideHelp())
    .addHelpText('after', examples)
    .action((flags: Flags) => runUp(flags, io))

const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function runUp(flags: Flags, io: Io): Promise<void> {
  const inside = flags.inside === undefined ? undefined : (JSON.parse(flags.inside) as Inside)
  const progress = createProgress({
    write: (text) => io.stdout.write(text),
    startedMs: inside?.startedMs ?? Date.now(),
    nowMs: () => Date.now(),
  })
  const stop = new AbortController()
  const onSignal = (name: NodeJS.Signals): void => {
    if (stop.signal.aborted) return
    io.stderr.write(`\n${name}: removing everything\n`)
    stop.abort(new Error(name))
  }
  // A terminal that was closed: what is written fails, and removing must go on all the same.
  const onClosed = (): void => stop.abort(new Error('the terminal was closed'))
  for (const name of endingSignals) process.on(name, onSignal)
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onClosed)
  try {
    if (inside === undefined) await fromOutside(flags, io, progress, stop.signal)
    else
      await runOnHost(
        insideOptions(flags, inside, io),
        progress,
        (text) => io.stdout.write(text),
        stop.signal,
      )
  } catch (e) {
    if (!stop.signal.aborted) throw e
  } finally {
    for (const name of endingSignals) process.off(name, onSignal)
  }
}

async function fromOutside(flags: Flags, io: Io, progress: Progress, signal: AbortSignal): Promise<void> {
  const endpoint = flags.containerRuntimeEndpoint
  const startedMs = Date.now()
  const machine = await readMachine(io, endpoint !== undefined)
  const plan = planUp(machine, {
    on: flags.on,
    endpoint,
    demo: flags.demo !== false && flags.pods === undefined,
  })
  progress.step(
    'machine',
    `${plan.place === 'host' ? 'this host' : 'the lab, a real kernel as a process'} (${plan.why})`,
  )
  await requirePort(flags.port)
  if (plan.place === 'host') await requirePort(healthzPort)
  const lock = await takeLock(cleanRemains)
  try {
    const installingSeconds = await install(plan, progress, signal)
    if (plan.place === 'lab') {
      progress.step('kernel', 'booting; containerd and the images come with it')
      const { port, memory: memoryMiB } = flags
      const command = commandName(io.env)
      await runInLab(
        {
          runDir: lock.dir,
          port,
          memoryMiB,
          startedMs,
          installingSeconds,
          command,
          flags: innerFlags(flags),
        },
        io,
        signal,
      )
    } else {
      const archives = endpoint === undefined ? [await ensureImages(cacheDirectory(io.env), signal)] : []
      await runOnHost(
        { ...hostOptions(flags, lock.dir, archives, io), installingSeconds },
        progress,
        (text) => io.stdout.write(text),
        signal,
      )
    }
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
  progress.step('packages', `${missing.length} are missing`)
  await ensurePackages(
    place === 'lab' ? ['uml', 'containerd', 'images', 'disk'] : ['containerd', 'images'],
    signal,
    (line) => progress.detail(line),
  )
  const seconds = progress.seconds() - began
  progress.step('packages', `installed in ${seconds.toFixed(1)} s`)
  return seconds
}

const innerFlags = ({ pods, demo }: Flags): string[] => [
  ...(pods === undefined ? [] : ['--pods', resolve(pods)]),
  ...(demo === false ? ['--no-demo'] : ['--demo', demo]),
]

/** npm and npx both say that they started us. */
const commandName = (env: Io['env']): string =>
  env.npm_lifecycle_event === undefined ? 'keelson' : 'npx keelson'

const hostOptions = (flags: Flags, runDir: string, archives: readonly string[], io: Io): HostOptions => ({
  runDir,
  port: flags.port,
  healthzPort,
  endpoint: flags.containerRuntimeEndpoint,
  archives,
  podsDir: flags.pods,
  demo: flags.demo,
  disk: undefined,
  installingSeconds: 0,
  command: commandName(io.env),
  accessDir: undefined,
  shownRootDir: `${runDir}/kubelet`,
  shownPort: flags.port,
  disposable: false,
})

const insideOptions = (
  flags: Flags,
  { access, port, command, installingSeconds }: Inside,
  io: Io,
): HostOptions => ({
  ...hostOptions(flags, '/run/keelson-up', [], io),
  command,
  installingSeconds,
  disk: io.env.LAB_DISKS?.split(' ')[0],
  endpoint: io.env.CONTAINER_RUNTIME_ENDPOINT,
  port: guestPort,
  accessDir: access,
  shownRootDir: access,
  shownPort: port,
  disposable: true,
})

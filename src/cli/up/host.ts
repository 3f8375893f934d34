// `keelson up` where the containers really run: on this host, or inside the lab's machine. Starts the parts, waits for a
// signal or runs the comparison, takes everything away again.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../lab/containerd/start-containerd.js'
import { mustRun } from '../../lab/process.js'
import { type DemoPod, demoPods } from '../../up/demo-pods.js'
import { formatFarewell } from '../../up/farewell.js'
import { directoriesBelow } from '../../up/kubelet-config.js'
import { type Manifest, type NodePlan, podTable, startNode } from '../../up/node.js'
import { judgePod } from '../../up/pod-state.js'
import { runPressure } from '../../up/pressure.js'
import { podsMemory } from '../../up/pressure-pods.js'
import type { Progress } from '../../up/progress.js'
import type { UpPorts } from '../../up/up-ports.js'
import { requireDisk } from './facts.js'
import { loadImageTars } from './image-tars.js'
import { labImages, readPodsDirectory } from './manifests.js'
import { removePodCgroups, removeSandboxes } from './remove.js'
import { writeReady } from './running.js'
import { createPorts } from './wire.js'

export type Demo = 'pods' | 'pressure' | false

export interface HostOptions {
  readonly runDir: string
  readonly port: number
  readonly healthzPort: number
  /** A runtime that is there already; undefined: a private containerd is started. */
  readonly endpoint: string | undefined
  readonly archives: readonly string[]
  /** Images of the person, loaded once the runtime is there. */
  readonly imageTars: readonly string[]
  /** Missing images were reported before the machine was booted. */
  readonly imagesReported: boolean
  /** Manifests to use in place of the demo. */
  readonly podsDir: string | undefined
  readonly demo: Demo
  /** A block device for the demo's files; undefined: they lie below runDir. */
  readonly disk: string | undefined
  /** Where token and certificate are put for a person outside of the machine. */
  readonly accessDir: string | undefined
  /** Where the node's processes write their logs, as people see it. */
  readonly logDir: string
  /** The directory that people give as --root-dir, as they see it. */
  readonly shownRootDir: string
  /** The port as they see it. */
  readonly shownPort: number
  /** Spent on packages before this began. */
  readonly installingSeconds: number
  /** How a person starts this program from where they are. */
  readonly command: string
  /** It was started by `up -d`. */
  readonly background: boolean
  /** The machine is thrown away whole: nothing has to be removed. */
  readonly disposable: boolean
}

const readyMs = 90_000
export async function runOnHost(
  options: HostOptions,
  progress: Progress,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const directories = directoriesBelow(options.runDir)
  const data = join(options.runDir, 'data')
  for (const dir of [directories.root, directories.pods, directories.logs, data])
    await mkdir(dir, { recursive: true })
  if (options.disk !== undefined) await mustRun(['mount', options.disk, data], { signal })
  const demo = options.podsDir === undefined && options.demo === 'pods' ? demoPods(data) : []
  const manifests =
    options.podsDir === undefined ? demo.map(demoManifest) : await readPodsDirectory(options.podsDir)
  const containerd =
    options.endpoint === undefined ? await startRuntime(options, progress, signal) : undefined
  const endpoint = options.endpoint ?? containerd?.endpoint ?? ''
  const plan: NodePlan = {
    directories,
    settings: { ports: { kubelet: options.port, healthz: options.healthzPort }, memoryQos: true },
    manifests,
    readyMs,
    place: { network: !options.disposable, images: labImages, reported: options.imagesReported },
    url: `https://127.0.0.1:${options.shownPort}`,
    inside: options.disposable,
    logDir: options.logDir,
  }
  try {
    await loadImageTars(options.imageTars, endpoint, progress, signal)
    const ports = createPorts(plan, endpoint, options.accessDir, signal)
    if (options.demo === 'pressure') await comparePressure(plan, data, ports, progress, say, signal)
    else await keepNode(plan, options, demo, ports, progress, say, signal)
  } finally {
    if (!options.disposable) {
      if (containerd === undefined) await removeSandboxes(createCriClient(endpoint), directories.pods)
      await containerd?.close()
      await removePodCgroups()
    }
  }
}

async function keepNode(
  plan: NodePlan,
  options: HostOptions,
  demo: readonly DemoPod[],
  ports: UpPorts,
  progress: Progress,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const node = await startNode(plan, ports, progress, signal)
  try {
    const table = await podTable(node.view, ports)
    const podNames = (await node.view.pods())
      .filter((pod) => judgePod(pod, plan.place).kind === 'running')
      .map((pod) => pod.metadata.name)
    const link = await node.view.loginLink()
    const wanted = plan.manifests.flatMap((m) => m.pods).length
    progress.step('node ready', wanted === 0 ? 'no pods' : `${node.running} of ${wanted} pods running`)
    const { shownPort: port, shownRootDir: rootDir, command, background, installingSeconds } = options
    const { troubles } = node
    const seconds = progress.seconds() - installingSeconds
    say(
      formatFarewell({
        seconds,
        installingSeconds,
        table,
        demo,
        troubles,
        logDir: plan.logDir,
        podNames,
        link,
        port,
        command,
        background,
      }),
    )
    await writeReady(rootDir)
    await Promise.race([aborted(signal), node.broken])
  } finally {
    if (!options.disposable) await node.stop()
  }
}

/** The pods get a small node of their own; the rest of the machine is out of their reach. */
async function comparePressure(
  plan: NodePlan,
  data: string,
  ports: UpPorts,
  progress: Progress,
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await requireDisk(data)
  const total = createProcfs().memInfo().get('MemTotal') ?? 0n
  const reservedMemory = total > podsMemory ? total - podsMemory : 0n
  const node: NodePlan = { ...plan, settings: { ...plan.settings, reservedMemory } }
  await runPressure({ node, data, write }, ports, progress, signal)
}

async function startRuntime(
  { archives, logDir }: HostOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<PrivateContainerd> {
  const containerd = await startPrivateContainerd({
    archives,
    log: join(logDir, 'containerd.log'),
    signal,
  })
  progress.step('containerd', `private, ${containerd.endpoint}`)
  return containerd
}

const demoManifest = ({ name, manifest }: DemoPod): Manifest => ({
  file: `${name}.yaml`,
  text: manifest,
  pods: [{ namespace: 'default', name }],
  problems: [],
})

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** What a run that was killed may have left, apart from its directory. */
export const cleanRemains = async (): Promise<void> => {
  await sleep(0)
  await removePodCgroups()
}

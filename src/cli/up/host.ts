// `keelson up` where the containers really run: on this host, or inside the lab's machine. Starts the parts, waits for a
// signal, takes everything away again.
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client.js'
import { fail } from '../../core/errors.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../lab/containerd/start.js'
import { demoPods } from '../../up/demo-pods.js'
import { directoriesBelow } from '../../up/kubelet-config.js'
import { type Manifest, type NodePlan, podTable, startNode } from '../../up/node.js'
import type { UpPorts } from '../../up/ports.js'
import type { Progress } from '../../up/progress.js'
import { isHealthy, startPart, takesConnections, waitUntil } from './parts.js'
import { removePodCgroups, removeSandboxes } from './remove.js'
import { openView, readMemory } from './view.js'

export interface HostOptions {
  readonly runDir: string
  readonly port: number
  readonly healthzPort: number
  /** A runtime that is there already; undefined: a private containerd is started. */
  readonly endpoint: string | undefined
  readonly archives: readonly string[]
  /** Manifests to use in place of the demo. */
  readonly podsDir: string | undefined
  readonly demo: boolean
  /** Where token and certificate are put for a person outside of the machine. */
  readonly accessDir: string | undefined
  /** The directory that people give as --root-dir, as they see it. */
  readonly shownRootDir: string
  /** The port as they see it. */
  readonly shownPort: number
  /** The machine is thrown away whole: nothing has to be removed. */
  readonly disposable: boolean
}

const startMs = 60_000
const readyMs = 90_000

export async function runOnHost(
  options: HostOptions,
  progress: Progress,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const directories = directoriesBelow(options.runDir)
  for (const dir of [directories.root, directories.pods, directories.logs])
    await mkdir(dir, { recursive: true })
  const manifests = await readManifests(options)
  const containerd =
    options.endpoint === undefined ? await startRuntime(options, progress, signal) : undefined
  const endpoint = options.endpoint ?? containerd?.endpoint ?? ''
  const plan: NodePlan = {
    directories,
    ports: { kubelet: options.port, healthz: options.healthzPort },
    manifests,
    readyMs,
  }
  try {
    const ports = createPorts(plan, endpoint, options, signal)
    const node = await startNode(plan, ports, progress, signal)
    try {
      const [table, link] = [await podTable(node.view, ports), await node.view.loginLink()]
      progress.step('node ready', `${manifests.length} pods run`)
      say(farewell(options, table, link, progress.seconds()))
      await Promise.race([aborted(signal), node.broken])
    } finally {
      if (!options.disposable) await node.stop()
    }
  } finally {
    if (!options.disposable) {
      if (containerd === undefined) await removeSandboxes(createCriClient(endpoint), manifests)
      await containerd?.close()
      await removePodCgroups()
    }
  }
}

async function startRuntime(
  { archives }: HostOptions,
  progress: Progress,
  signal: AbortSignal,
): Promise<PrivateContainerd> {
  const containerd = await startPrivateContainerd({ archives, signal })
  progress.step('containerd', `a private one, ${containerd.endpoint}`)
  return containerd
}

async function readManifests({ podsDir, demo }: HostOptions): Promise<readonly Manifest[]> {
  if (podsDir === undefined)
    return demo ? demoPods.map(({ name, manifest }) => ({ file: `${name}.yaml`, text: manifest })) : []
  const names = (await readdir(podsDir).catch(() => undefined))?.filter((n) => /\.(ya?ml|json)$/.test(n))
  if (names === undefined)
    throw fail('input.unreadable', `read --pods ${podsDir}: no such directory`, { path: podsDir })
  return Promise.all(names.map(async (file) => ({ file, text: await readFile(join(podsDir, file), 'utf8') })))
}

function createPorts(plan: NodePlan, endpoint: string, options: HostOptions, signal: AbortSignal): UpPorts {
  const { directories } = plan
  const log = (name: string): string => join(directories.run, `${name}.log`)
  return {
    write: (path, text) => writeFile(path, text),
    async clear(directory) {
      for (const name of await readdir(directory)) await rm(join(directory, name), { force: true })
    },
    async startCri() {
      const part = startPart(
        'keelson cri',
        ['cri', '--upstream', endpoint, '--listen', `unix://${directories.criSocket}`, '--port', '0'],
        log('cri'),
      )
      await waitUntil(() => takesConnections(directories.criSocket), part, 'the CRI server', startMs, signal)
      return part
    },
    async startKubelet(config) {
      const part = startPart(
        'keelson kubelet',
        ['kubelet', '--config', config, '--root-dir', directories.root, '--v', '2'],
        log('kubelet'),
      )
      await waitUntil(() => isHealthy(options.healthzPort), part, 'the kubelet', startMs, signal)
      return part
    },
    async kubelet() {
      if (options.accessDir !== undefined) await showAccess(directories.root, options.accessDir)
      return openView(options.port, directories.root)
    },
    memory: readMemory,
    sleep: (ms, stop) => createClock().sleep(ms, stop),
    nowMs: () => Date.now(),
  }
}

/** Laid out as below the kubelet's own directory, so that --root-dir works with it. */
async function showAccess(rootDir: string, accessDir: string): Promise<void> {
  await mkdir(join(accessDir, 'pki'), { recursive: true })
  for (const file of ['keelson-token', 'pki/kubelet.crt']) {
    await copyFile(join(rootDir, file), join(accessDir, file))
    await chmod(join(accessDir, file), 0o600)
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

function farewell(o: HostOptions, table: string, link: string | undefined, seconds: number): string {
  const reach = `--root-dir ${o.shownRootDir}${o.shownPort === 10250 ? '' : ` --server https://127.0.0.1:${o.shownPort}`}`
  const shows = o.podsDir === undefined && o.demo ? demoPods.map((p) => `  ${p.name}: ${p.shows}`) : []
  return [
    '',
    `node ready after ${seconds.toFixed(1)} s`,
    '',
    table,
    ...shows,
    '',
    ...(link === undefined
      ? []
      : [`dashboard: https://127.0.0.1:${o.shownPort}${link}  (works once, within a minute)`, '']),
    'try, in another terminal:',
    `  keelson get pods -o wide ${reach}`,
    `  keelson logs hog -f ${reach}`,
    `  curl -sk -H "Authorization: Bearer $(cat ${o.shownRootDir}/keelson-token)" https://127.0.0.1:${o.shownPort}/metrics/cadvisor | grep memory_events`,
    '',
    'Ctrl-C stops and removes everything.',
    '',
  ].join('\n')
}

/** What a run that was killed may have left, apart from its directory. */
export const cleanRemains = async (): Promise<void> => {
  await sleep(0)
  await removePodCgroups()
}

// `kubelet`: the upstream kubelet and Keelson in turns on the same containerd 1.6, in a node environment of private
// namespaces on this host. As root; about three minutes and a half for each stack and turn of 110 pods.
import { chmod, copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureSuiteImages, missingForImages } from '../../conformance/images/ensure-images.js'
import {
  insideDirectory,
  type RuntimeName,
  runtimeSocket,
  runtimes,
} from '../../conformance/node-environment/plan.js'
import {
  inCache,
  insideKeelson,
  runtimePeers,
  runtimePrograms,
  writeKeelson,
} from '../../conformance/node-environment/programs.js'
import { startEnvironment } from '../../conformance/node-environment/start.js'
import { buildPeer, cacheRoot } from '../../conformance/peers/build.js'
import type { PeerName } from '../../conformance/peers/catalogue.js'
import {
  ensureNode,
  type NodeRelease,
  nodeReleases,
  packagedNode,
} from '../../scripts/package/node-release.js'
import { missingRequirement } from '../../test/support/requirements.js'
import { bundleForLab } from '../bundle-for-lab.js'
import type { BenchOptions, BenchReport, BenchUnit } from '../unit.js'
import type { InsideOptions } from './inside.js'
import { formatPage } from './page.js'
import { type StackName, stackNames } from './stack.js'
import { type RowName, rowNames, type Turn } from './turn.js'

interface Settings {
  readonly turns: number
  readonly pods: number
  readonly singlePods: number
  readonly windowMs: number
  readonly runtime: RuntimeName
  readonly rows: readonly RowName[]
  readonly stacks: readonly StackName[]
  readonly node: NodeRelease
}

const options = {
  turns: 'N: of each stack (3)',
  pods: 'N: at rest (110)',
  'single-pods': 'N: one after the other, in each turn (20)',
  window: 'SECONDS: at rest, and with scrapes (60)',
  runtime: `NAME: ${runtimes.join(', ')} (containerd-1.6)`,
  rows: `LIST: ${rowNames.join(',')} (all)`,
  stacks: `LIST: ${stackNames.join(',')} (all)`,
  node: `LINE: of Node, for Keelson: ${Object.keys(nodeReleases).join(', ')} (that of the packages)`,
}

function oneOf<T extends string>(name: string, all: readonly T[], word: string): T {
  const found = all.find((one) => one === word)
  if (found === undefined) throw new Error(`--${name} ${word}: one of ${all.join(', ')}`)
  return found
}

function readSettings(given: BenchOptions): Settings {
  const count = (name: keyof typeof options, otherwise: number): number => {
    const value = Number(given[name] ?? otherwise)
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} ${given[name]}: a whole number`)
    return value
  }
  const list = <T extends string>(name: keyof typeof options, all: readonly T[]): readonly T[] =>
    given[name]?.split(',').map((word) => oneOf(name, all, word.trim())) ?? all
  const lines = Object.keys(nodeReleases)
  const line = given['node'] === undefined ? undefined : oneOf('node', lines, given['node'])
  return {
    turns: count('turns', 3),
    pods: count('pods', 110),
    singlePods: count('single-pods', 20),
    windowMs: count('window', 60) * 1000,
    runtime: oneOf('runtime', runtimes, given['runtime'] ?? 'containerd-1.6'),
    rows: list('rows', rowNames),
    stacks: list('stacks', stackNames),
    node: line === undefined ? packagedNode : nodeReleases[Number(line) as keyof typeof nodeReleases],
  }
}

/** A fifth of it would do for the start's garbage; the kubelets' own loops have run by then. */
const SETTLE_MS = 20_000
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
/** The node environment starts containerd in it. */
const runtimeCgroup = 'docker-daemon'
const log = (line: string): void => console.error(`kubelet: ${line}`)

async function prepare(
  directory: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<Parameters<typeof startEnvironment>[0]> {
  const { binary } = await ensureNode(settings.node, signal, log)
  await copyFile(binary, join(directory, 'node-of-keelson'))
  await chmod(join(directory, 'node-of-keelson'), 0o755)
  const peers = new Map<PeerName, string>()
  if (settings.runtime !== 'containerd-1.6')
    for (const name of runtimePeers) peers.set(name, await buildPeer(name, log))
  const [kubelet, agnhost, sampleDevicePlugin] = [
    await buildPeer('kubelet', log),
    await buildPeer('agnhost', log),
    await buildPeer('sample-device-plugin', log),
  ]
  const images = await ensureSuiteImages({ agnhost, sampleDevicePlugin }, AbortSignal.timeout(1_200_000), log)
  await bundleForLab(join(import.meta.dirname, 'inside.ts'), join(directory, 'bench.mjs'))
  await writeKeelson(directory)
  const options: InsideOptions = {
    programs: {
      kubelet: inCache(kubelet),
      keelson: insideKeelson,
      node: join(insideDirectory, 'node-of-keelson'),
      runtime: runtimeSocket,
    },
    directory: join(insideDirectory, 'bench'),
    image,
    runtimeCgroup,
    ...settings,
    settleMs: SETTLE_MS,
    results: join(insideDirectory, 'out/turns.json'),
  }
  return {
    directory,
    cache: cacheRoot(),
    runtime: settings.runtime,
    programs: runtimePrograms(settings.runtime, (name) => peers.get(name) ?? ''),
    imageLayout: inCache(images.layout),
    imageArchive: inCache(images.archive),
    systemdStandIns: false,
    argv: [process.execPath, join(insideDirectory, 'bench.mjs'), JSON.stringify(options)],
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput: (text) => process.stderr.write(text),
    leftovers: [],
  }
}

async function run(signal: AbortSignal, given: BenchOptions): Promise<BenchReport> {
  const settings = readSettings(given)
  const missing =
    missingRequirement({ root: true, packages: ['containerd'], commands: ['unshare', 'setpriv', 'ip'] }) ??
    missingForImages()
  if (missing !== undefined) throw new Error(missing)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  try {
    return await runIn(directory, settings, signal)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function runIn(directory: string, settings: Settings, signal: AbortSignal): Promise<BenchReport> {
  const request = await prepare(directory, settings, signal)
  const [load = 0] = loadavg()
  const environment = await startEnvironment(request)
  const stop = (): void => void environment.close().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    const status = await environment.ended
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`the run inside the environment ended with status ${status}`)
    const turns = JSON.parse(await readFile(join(directory, 'out/turns.json'), 'utf8')) as readonly Turn[]
    return formatPage(turns, { ...settings, node: settings.node.version, load })
  } finally {
    signal.removeEventListener('abort', stop)
    await environment.close()
  }
}

export const kubelet: BenchUnit = {
  name: 'kubelet',
  summary: 'the upstream kubelet and Keelson in turns: start, pods, rest, scrapes, stop (root; 30 minutes)',
  options,
  run,
}

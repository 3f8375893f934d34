// `kubelet`: the upstream kubelet and Keelson in turns on the same containerd 1.6, in a node environment of private
// namespaces on this host. As root; about three minutes and a half for each stack and turn of 110 pods.
import { chmod, copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  insideDirectory,
  type RuntimeName,
  runtimeSocket,
  runtimes,
} from '../../conformance/node-environment/plan.js'
import { inCache } from '../../conformance/node-environment/programs.js'
import { ensureNode, type NodeRelease, nodeReleases } from '../../scripts/package/node-release.js'
import { buildProgram } from '../../scripts/program.mjs'
import { insideTurns, runInNode } from '../run-in-node.js'
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
  readonly collectPeriod: string | undefined
  readonly rows: readonly RowName[]
  readonly stacks: readonly StackName[]
  readonly node: NodeRelease
}

/** The newest line with long-term support. That of the packages, 24, keeps 22 MiB more of its binary in memory. */
const newestNode = 26

const options = {
  turns: 'N: of each stack (3)',
  pods: 'N: at rest (110)',
  'single-pods': 'N: one after the other, in each turn (20)',
  window: 'SECONDS: at rest, and with scrapes (60)',
  runtime: `NAME: ${runtimes.join(', ')} (containerd-1.6)`,
  'collect-period':
    'TIME: how often containerd 2 reads the stats of all containers for itself (its default, 1s)',
  rows: `LIST: ${rowNames.join(',')} (all but loop)`,
  stacks: `LIST: ${stackNames.join(',')} (all)`,
  node: `LINE: of Node, for Keelson: ${Object.keys(nodeReleases).join(', ')} (${newestNode})`,
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
  const runtime = oneOf('runtime', runtimes, given['runtime'] ?? 'containerd-1.6')
  const collectPeriod = given['collect-period']
  if (collectPeriod !== undefined && runtime !== 'containerd-2')
    throw new Error(`--collect-period ${collectPeriod}: only containerd-2 has this setting`)
  const line = given['node'] === undefined ? undefined : oneOf('node', lines, given['node'])
  return {
    turns: count('turns', 3),
    pods: count('pods', 110),
    singlePods: count('single-pods', 20),
    windowMs: count('window', 60) * 1000,
    runtime,
    collectPeriod,
    rows: given['rows'] === undefined ? rowNames.filter((row) => row !== 'loop') : list('rows', rowNames),
    stacks: list('stacks', stackNames),
    node: nodeReleases[Number(line ?? newestNode) as keyof typeof nodeReleases],
  }
}

/** A fifth of it would do for the start's garbage; the kubelets' own loops have run by then. */
const SETTLE_MS = 20_000
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
/** The node environment starts containerd in it. */
const runtimeCgroup = 'docker-daemon'
const nodeOfKeelson = 'node-of-keelson'
/** The program as packages have it; the bundles of tests are larger. */
const shipped = 'shipped'
const watchLoop = 'watch-loop.mjs'
const log = (line: string): void => console.error(`kubelet: ${line}`)

async function run(signal: AbortSignal, given: BenchOptions): Promise<BenchReport> {
  const settings = readSettings(given)
  const insideOptions = (kubelet: string): InsideOptions => ({
    programs: {
      kubelet: inCache(kubelet),
      keelson: join(insideDirectory, shipped, 'cli/main.js'),
      node: join(insideDirectory, nodeOfKeelson),
      runtime: runtimeSocket,
    },
    directory: join(insideDirectory, 'bench'),
    watchLoop: join(insideDirectory, watchLoop),
    image,
    runtimeCgroup,
    ...settings,
    settleMs: SETTLE_MS,
    results: insideTurns,
  })
  const { turns, load } = await runInNode<Turn>(
    {
      runtime: settings.runtime,
      collectPeriod: settings.collectPeriod,
      program: join(import.meta.dirname, 'inside.ts'),
      options: (peer) => insideOptions(peer('kubelet')),
      async prepare(directory) {
        const { binary } = await ensureNode(settings.node, signal, log)
        await copyFile(binary, join(directory, nodeOfKeelson))
        await chmod(join(directory, nodeOfKeelson), 0o755)
        await copyFile(join(import.meta.dirname, watchLoop), join(directory, watchLoop))
        await buildProgram({ out: join(directory, shipped) })
        await writeFile(join(directory, shipped, 'package.json'), '{"type": "module"}\n')
      },
      log,
    },
    signal,
  )
  return formatPage(turns, { ...settings, node: settings.node.version, load })
}

export const kubelet: BenchUnit = {
  name: 'kubelet',
  summary: 'the upstream kubelet and Keelson in turns: start, pods, rest, scrapes, stop (root; 30 minutes)',
  options,
  run,
}

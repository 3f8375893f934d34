// `probes`: the upstream kubelet and Keelson in turns probe a full node. As root; about two minutes for each kubelet and turn.
import { join } from 'node:path'
import { insideDirectory, nodeAddress, runtimeSocket } from '../../conformance/node-environment/plan.js'
import { inCache, insideKeelson } from '../../conformance/node-environment/programs.js'
import { insideTurns, runInNode } from '../run-in-node.js'
import type { BenchReport, BenchUnit } from '../unit.js'
import type { ProbeOptions, ProbeTurn } from './inside.js'
import { formatProbes } from './page.js'

/** Fewer and shorter only while the benchmark itself is worked on; the page then names them in its command. */
const settings = { PROBES_TURNS: 2, PROBES_PODS: 110, PROBES_EXEC_PODS: 10, PROBES_WINDOW_S: 60 } as const
type Setting = keyof typeof settings
const settingOf = (name: Setting): number => Number(process.env[name] ?? settings[name])
const changed = (Object.keys(settings) as Setting[]).filter((name) => settingOf(name) !== settings[name])
const command = [...changed.map((name) => `${name}=${settingOf(name)}`), 'npm run bench -- probes'].join(' ')

const SETTLE_MS = 15_000
const log = (line: string): void => console.error(`probes: ${line}`)

const insideOptions = (kubelet: string): ProbeOptions => ({
  programs: {
    kubelet: inCache(kubelet),
    keelson: insideKeelson,
    node: process.execPath,
    runtime: runtimeSocket,
  },
  directory: join(insideDirectory, 'bench'),
  images: {
    pause: 'registry.k8s.io/pause:3.10.2',
    busybox: 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2',
  },
  address: nodeAddress,
  runtimeCgroup: 'docker-daemon',
  pods: settingOf('PROBES_PODS'),
  execPods: settingOf('PROBES_EXEC_PODS'),
  turns: settingOf('PROBES_TURNS'),
  windowMs: settingOf('PROBES_WINDOW_S') * 1000,
  settleMs: SETTLE_MS,
  results: insideTurns,
})

async function run(signal: AbortSignal): Promise<BenchReport> {
  const program = join(import.meta.dirname, 'inside.ts')
  const { turns, load } = await runInNode<ProbeTurn>(
    { runtime: 'containerd-2', program, options: (peer) => insideOptions(peer('kubelet')), log },
    signal,
  )
  return formatProbes(turns, {
    command,
    load,
    turns: settingOf('PROBES_TURNS'),
    pods: settingOf('PROBES_PODS'),
    execPods: settingOf('PROBES_EXEC_PODS'),
  })
}

export const probes: BenchUnit = {
  name: 'probes',
  summary: '110 pods with probes each second: the upstream kubelet and Keelson in turns (root; 10 minutes)',
  run,
}

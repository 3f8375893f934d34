// `probes`: the upstream kubelet and Keelson in turns probe a full node. As root; about two minutes for each kubelet and turn.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureSuiteImages, missingForImages } from '../../conformance/images/ensure-images.js'
import { insideDirectory, nodeAddress, runtimeSocket } from '../../conformance/node-environment/plan.js'
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
import { missingRequirement } from '../../test/support/requirements.js'
import { bundleForLab } from '../bundle-for-lab.js'
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
const IMAGES_MS = 1_200_000
const results = 'out/turns.json'
const log = (line: string): void => console.error(`probes: ${line}`)

async function prepare(directory: string): Promise<Parameters<typeof startEnvironment>[0]> {
  const peers = new Map<PeerName, string>()
  for (const name of [...runtimePeers, 'kubelet', 'agnhost', 'sample-device-plugin'] as const)
    peers.set(name, await buildPeer(name, log))
  const peer = (name: PeerName): string => peers.get(name) ?? ''
  const images = await ensureSuiteImages(
    { agnhost: peer('agnhost'), sampleDevicePlugin: peer('sample-device-plugin') },
    AbortSignal.timeout(IMAGES_MS),
    log,
  )
  await bundleForLab(join(import.meta.dirname, 'inside.ts'), join(directory, 'bench.mjs'))
  await writeKeelson(directory)
  const options: ProbeOptions = {
    programs: {
      kubelet: inCache(peer('kubelet')),
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
    results: join(insideDirectory, results),
  }
  return {
    directory,
    cache: cacheRoot(),
    runtime: 'containerd-2',
    programs: runtimePrograms('containerd-2', peer),
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

async function runIn(directory: string, signal: AbortSignal): Promise<BenchReport> {
  const request = await prepare(directory)
  const [load = 0] = loadavg()
  const environment = await startEnvironment(request)
  const stop = (): void => void environment.close().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    const status = await environment.ended
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`the run inside the environment ended with status ${status}`)
    const turns = JSON.parse(await readFile(join(directory, results), 'utf8')) as readonly ProbeTurn[]
    return formatProbes(turns, {
      command,
      load,
      turns: settingOf('PROBES_TURNS'),
      pods: settingOf('PROBES_PODS'),
      execPods: settingOf('PROBES_EXEC_PODS'),
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await environment.close()
  }
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const missing =
    missingRequirement({ root: true, packages: ['containerd'], commands: ['unshare', 'setpriv', 'ip'] }) ??
    missingForImages()
  if (missing !== undefined) throw new Error(missing)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  try {
    return await runIn(directory, signal)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

export const probes: BenchUnit = {
  name: 'probes',
  summary: '110 pods with probes each second: the upstream kubelet and Keelson in turns (root; 10 minutes)',
  run,
}

// `kubelet`: the upstream kubelet and Keelson in turns on the same containerd 1.6, in a node environment of private
// namespaces on this host. As root; about five minutes for each stack and turn.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureSuiteImages, missingForImages } from '../../conformance/images/ensure-images.js'
import { insideDirectory, runtimeSocket } from '../../conformance/node-environment/plan.js'
import {
  inCache,
  insideKeelson,
  runtimePrograms,
  writeKeelson,
} from '../../conformance/node-environment/programs.js'
import { startEnvironment } from '../../conformance/node-environment/start.js'
import { buildPeer, cacheRoot } from '../../conformance/peers/build.js'
import { missingRequirement } from '../../test/support/requirements.js'
import { bundleForLab } from '../bundle-for-lab.js'
import type { BenchReport, BenchUnit } from '../unit.js'
import type { InsideOptions } from './inside.js'
import { formatPage } from './page.js'
import { stackNames } from './stack.js'
import type { Turn } from './turn.js'

/** Fewer and shorter only while the benchmark itself is worked on; the page then names them in its command. */
const settings = {
  KUBELET_TURNS: 3,
  KUBELET_PODS: 110,
  KUBELET_SINGLE_PODS: 20,
  KUBELET_WINDOW_S: 60,
} as const
type Setting = keyof typeof settings
const settingOf = (name: Setting): number => Number(process.env[name] ?? settings[name])
const changed = (Object.keys(settings) as Setting[]).filter((name) => settingOf(name) !== settings[name])
const command = [...changed.map((name) => `${name}=${settingOf(name)}`), 'npm run bench -- kubelet'].join(' ')

const SETTLE_MS = 30_000
const image = 'registry.k8s.io/e2e-test-images/busybox:1.37.0-2'
/** The node environment starts containerd in it. */
const runtimeCgroup = 'docker-daemon'
const log = (line: string): void => console.error(`kubelet: ${line}`)

async function prepare(directory: string): Promise<Parameters<typeof startEnvironment>[0]> {
  const [kubelet, agnhost, sampleDevicePlugin] = [
    await buildPeer('kubelet', log),
    await buildPeer('agnhost', log),
    await buildPeer('sample-device-plugin', log),
  ]
  const images = await ensureSuiteImages({ agnhost, sampleDevicePlugin }, AbortSignal.timeout(1_200_000), log)
  await bundleForLab(join(import.meta.dirname, 'inside.ts'), join(directory, 'bench.mjs'))
  await writeKeelson(directory)
  const options: InsideOptions = {
    programs: { kubelet: inCache(kubelet), keelson: insideKeelson, runtime: runtimeSocket },
    directory: join(insideDirectory, 'bench'),
    image,
    runtimeCgroup,
    stacks: stackNames,
    turns: settingOf('KUBELET_TURNS'),
    pods: settingOf('KUBELET_PODS'),
    singlePods: settingOf('KUBELET_SINGLE_PODS'),
    windowMs: settingOf('KUBELET_WINDOW_S') * 1000,
    settleMs: SETTLE_MS,
    results: join(insideDirectory, 'out/turns.json'),
  }
  return {
    directory,
    cache: cacheRoot(),
    runtime: 'containerd-1.6',
    programs: runtimePrograms('containerd-1.6', () => ''),
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

async function runIn(directory: string, signal: AbortSignal): Promise<BenchReport> {
  const environment = await startEnvironment(await prepare(directory))
  const stop = (): void => void environment.close().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    const status = await environment.ended
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`the run inside the environment ended with status ${status}`)
    const turns = JSON.parse(await readFile(join(directory, 'out/turns.json'), 'utf8')) as readonly Turn[]
    return formatPage(turns, {
      command,
      turns: settingOf('KUBELET_TURNS'),
      pods: settingOf('KUBELET_PODS'),
      singlePods: settingOf('KUBELET_SINGLE_PODS'),
      windowMs: settingOf('KUBELET_WINDOW_S') * 1000,
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await environment.close()
  }
}

export const kubelet: BenchUnit = {
  name: 'kubelet',
  summary: 'the upstream kubelet and Keelson in turns: start, pods, rest, scrapes, stop (root; 45 minutes)',
  run,
}

// A bench's program in a node environment of private namespaces on this host; what it wrote to out/turns.json.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { insideDirectory, type RuntimeName } from '../conformance/node-environment/plan.js'
import { inCache, peersOf, runtimePrograms, writeKeelson } from '../conformance/node-environment/programs.js'
import { startEnvironment } from '../conformance/node-environment/start.js'
import { cacheRoot } from '../conformance/peers/build.js'
import type { PeerName } from '../conformance/peers/catalogue.js'
import { bundleForLab } from './bundle-for-lab.js'
import { buildBenchPeers, missingForNode } from './peers.js'

const turnsFile = 'out/turns.json'
/** Where the program has to write its results. */
export const insideTurns = join(insideDirectory, turnsFile)

interface NodeBench {
  readonly runtime: RuntimeName
  /** Of containerd 2's own stats. */
  readonly collectPeriod?: string | undefined
  readonly program: string
  /** The only argument of the program. */
  readonly options: (peer: (name: PeerName) => string) => object
  /** Puts more into the directory, which the program sees as `insideDirectory`. */
  readonly prepare?: (directory: string) => Promise<void>
  readonly log: (line: string) => void
}

interface NodeBenchResult<T> {
  readonly turns: readonly T[]
  /** Of the machine, before the run. */
  readonly load: number
}

export async function runInNode<T>(bench: NodeBench, signal: AbortSignal): Promise<NodeBenchResult<T>> {
  const missing = missingForNode()
  if (missing !== undefined) throw new Error(missing)
  const directory = await mkdtemp(join(tmpdir(), 'keelson-bench-'))
  try {
    return await runIn<T>(directory, bench, signal)
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function requestOf(
  directory: string,
  { runtime, collectPeriod, program, options, prepare, log }: NodeBench,
): Promise<Parameters<typeof startEnvironment>[0]> {
  const { peer, images } = await buildBenchPeers([...peersOf[runtime], 'kubelet'], log)
  await prepare?.(directory)
  await bundleForLab(program, join(directory, 'bench.mjs'))
  await writeKeelson(directory)
  return {
    directory,
    cache: cacheRoot(),
    runtime,
    ...(collectPeriod !== undefined && { collectPeriod }),
    programs: runtimePrograms(runtime, peer),
    imageLayout: inCache(images.layout),
    imageArchive: inCache(images.archive),
    systemdStandIns: false,
    argv: [process.execPath, join(insideDirectory, 'bench.mjs'), JSON.stringify(options(peer))],
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput: (text) => process.stderr.write(text),
    leftovers: [],
  }
}

async function runIn<T>(
  directory: string,
  bench: NodeBench,
  signal: AbortSignal,
): Promise<NodeBenchResult<T>> {
  const request = await requestOf(directory, bench)
  const [load = 0] = loadavg()
  const environment = await startEnvironment(request)
  const stop = (): void => void environment.close().catch(() => {})
  signal.addEventListener('abort', stop, { once: true })
  try {
    const status = await environment.ended
    signal.throwIfAborted()
    if (status !== 0) throw new Error(`the run inside the environment ended with status ${status}`)
    return { turns: JSON.parse(await readFile(join(directory, turnsFile), 'utf8')) as T[], load }
  } finally {
    signal.removeEventListener('abort', stop)
    await environment.close()
  }
}

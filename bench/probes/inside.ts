// node inside.mjs OPTIONS, in a node environment: both kubelets in turns probe the same pods; the results go to a file as JSON.
import { readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyRuntime } from '../empty-runtime.js'
import { prepareStack, type StackPrograms } from '../kubelet/stack.js'
import { type PartUsage, readUsage, usedBetween } from '../kubelet/usage.js'
import { execPod, networkPod, periodMs, ports } from './pods.js'
import { type Kind, kinds, latenessOf, type ProbeServer, startProbeServer } from './server.js'

const stacks = ['upstream', 'keelson'] as const
export type Stack = (typeof stacks)[number]

export interface ProbeOptions {
  readonly programs: StackPrograms
  readonly directory: string
  readonly images: { readonly pause: string; readonly busybox: string }
  readonly address: string
  readonly runtimeCgroup: string
  readonly pods: number
  readonly execPods: number
  readonly turns: number
  readonly windowMs: number
  readonly settleMs: number
  readonly results: string
}

export interface ProbeTurn {
  readonly stack: Stack
  readonly windowMs: number
  readonly usage: PartUsage
  /** How many requests came, and how late each was, in milliseconds. */
  readonly probes: Readonly<Record<Kind, { readonly count: number; readonly lateness: readonly number[] }>>
}

const START_MS = 300_000

async function writePods(manifests: string, o: ProbeOptions): Promise<string[]> {
  const documents = [
    ...Array.from({ length: o.pods }, (_, i) => networkPod(`net-${i}`, o.images)),
    ...Array.from({ length: o.execPods }, (_, i) => execPod(`exec-${i}`, o.images, o.address)),
  ]
  const written: string[] = []
  for (const [i, document] of documents.entries()) {
    const draft = join(manifests, '..', `${i}.draft`)
    await writeFile(draft, JSON.stringify(document))
    await rename(draft, join(manifests, `${i}.yaml`))
    written.push(join(manifests, `${i}.yaml`))
  }
  return written
}

/** Every probe of every pod has asked. */
async function untilProbed(server: ProbeServer, o: ProbeOptions, logFile: string): Promise<void> {
  const wanted = 2 * o.pods + o.execPods
  for (const end = performance.now() + START_MS; server.arrivals.size < wanted; await sleep(500))
    if (performance.now() > end)
      throw new Error(
        `${server.arrivals.size} of ${wanted} probes ask:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`,
      )
}

function takeProbes({ arrivals }: ProbeServer): ProbeTurn['probes'] {
  const of = (kind: Kind): ProbeTurn['probes'][Kind] => {
    const lists = [...arrivals].filter(([key]) => key.startsWith(`${kind}/`)).map(([, times]) => times)
    return {
      count: lists.reduce((sum, times) => sum + times.length, 0),
      lateness: lists.flatMap((times) => latenessOf(times, periodMs[kind])),
    }
  }
  return Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as ProbeTurn['probes']
}

async function runTurn(stack: Stack, o: ProbeOptions, server: ProbeServer): Promise<ProbeTurn> {
  await mkdir(o.directory, { recursive: true })
  const running = (
    await prepareStack(stack, o.programs, { ...o, certificates: join(o.directory, 'certificates') })
  )()
  try {
    server.forget()
    const manifests = await writePods(running.manifests, o)
    await untilProbed(server, o, join(o.directory, 'kubelet.log'))
    await sleep(o.settleMs)
    server.forget()
    const before = readUsage(running, o.runtimeCgroup)
    const began = performance.now()
    await sleep(o.windowMs)
    const usage = usedBetween(before, readUsage(running, o.runtimeCgroup))
    const probes = takeProbes(server)
    const windowMs = performance.now() - began
    for (const path of manifests) await rm(path)
    await sleep(5_000)
    return { stack, windowMs, usage, probes }
  } finally {
    await running.stop()
  }
}

const options = JSON.parse(process.argv[2] ?? '{}') as ProbeOptions
const server = await startProbeServer(ports)
const turns: ProbeTurn[] = []
for (let turn = 0; turn < options.turns; turn++)
  for (const stack of stacks) {
    const directory = join(options.directory, `turn-${turn}-${stack}`)
    const done = await runTurn(stack, { ...options, directory }, server)
    turns.push(done)
    await writeFile(options.results, JSON.stringify(turns))
    const { count } = done.probes.http
    console.log(`turn ${turn + 1}, ${stack}: ${done.usage.kubelet.cpuS.toFixed(2)} s of CPU, ${count} GETs`)
    await emptyRuntime(options.programs.runtime)
    await rm(join(directory, 'root'), { recursive: true, force: true, maxRetries: 5 })
  }
server.close()
process.exit()

// One turn of one stack, from its start to its end on an empty runtime: health, single pods, many pods, rest, scrapes, stop.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { threadsCpuS } from '../process-usage.js'
import { removePod, watchMarks, writePod } from './pods.js'
import { ports, prepareStack, type RunningStack, type StackName, type StackPrograms } from './stack.js'
import { type PartUsage, processesNamed, readUsage, usedBetween } from './usage.js'

/** What a turn measures; pods that run are needed for the last five. */
export const rowNames = ['start', 'one', 'many', 'rest', 'scrapes', 'stop', 'loop'] as const
export type RowName = (typeof rowNames)[number]

export interface TurnOptions {
  readonly rows: readonly RowName[]
  readonly programs: StackPrograms
  /** Below it the turn keeps its files; of the node environment. */
  readonly directory: string
  /** Of the kubelet: it outlives the turn. */
  readonly certificates: string
  /** A file that is loaded into Keelson where its event loop is watched. */
  readonly watchLoop: string
  readonly image: string
  /** Of containerd and its shims. */
  readonly runtimeCgroup: string
  readonly singlePods: number
  readonly pods: number
  readonly settleMs: number
  readonly windowMs: number
  readonly log: (line: string) => void
}

/** What was not asked for is not there. */
export interface Turn {
  readonly stack: StackName
  readonly healthyMs: number
  readonly healthyCpuS: number
  /** The same of the start before, the first one after an installation. */
  readonly firstCpuS?: number
  readonly singlePodMs: readonly number[]
  readonly manyMs?: number
  readonly many?: PartUsage
  /** CPU seconds per minute. */
  readonly rest?: PartUsage
  readonly scraped?: PartUsage
  /** Longest delay of Keelson's event loop while the pods started, at rest and during scrapes. */
  readonly loopDelayMs?: number
  /** The longest of each, watched from inside. */
  readonly loop?: { readonly delayMs: number; readonly blockMs: number; readonly workMs: number }
  readonly stopPodsMs?: number
  readonly stopPods?: PartUsage
  readonly stopKubeletMs: number
}

const endpoints = ['/metrics/cadvisor', '/metrics/resource', '/stats/summary']
const SCRAPE_MS = 10_000
const HEALTH_TIMEOUT_MS = 120_000
const PODS_TIMEOUT_MS = 600_000
const ANSWER_TIMEOUT_MS = 30_000

interface Answer {
  /** 0: there was none. */
  readonly status: number
  readonly body: string
}

function ask(url: string): Promise<Answer> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve) => {
    const options = { rejectUnauthorized: false, agent: false, timeout: ANSWER_TIMEOUT_MS }
    const outgoing = send(url, options, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    })
    outgoing.once('timeout', () => outgoing.destroy())
    outgoing.once('error', () => resolve({ status: 0, body: '' }))
    outgoing.end()
  })
}

async function untilHealthy({ kubelet }: RunningStack, logFile: string): Promise<void> {
  const deadline = performance.now() + HEALTH_TIMEOUT_MS
  while ((await ask(`http://127.0.0.1:${ports.health}/healthz`)).status !== 200) {
    const ended = kubelet.exitCode !== null || kubelet.signalCode !== null
    if (ended || performance.now() > deadline)
      throw new Error(`the kubelet did not become healthy:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`)
    await sleep(5)
  }
}

/** Until the pause process of every sandbox has ended. Shims say less: containerd 1.6 forgets some when it is overloaded. */
async function untilNoSandbox(what: string): Promise<void> {
  const deadline = performance.now() + PODS_TIMEOUT_MS
  while (processesNamed('pause').length > 0) {
    if (performance.now() > deadline) throw new Error(`${what}: pods still run`)
    await sleep(50)
  }
}

async function scrapeFor(windowMs: number): Promise<void> {
  const end = performance.now() + windowMs
  while (performance.now() < end) {
    const next = performance.now() + SCRAPE_MS
    for (const path of endpoints) {
      const { status } = await ask(`https://127.0.0.1:${ports.server}${path}`)
      if (status !== 200) throw new Error(`${path} answered ${status}`)
    }
    await sleep(Math.max(0, Math.min(next, end) - performance.now()))
  }
}

/** The kubelet's own metric, of the last minutes: since the pods began to start. */
async function longestLoopDelayMs(): Promise<number | undefined> {
  const { body } = await ask(`https://127.0.0.1:${ports.server}/metrics`)
  const found = /^keelson_event_loop_delay_seconds\{quantile="1"\} (\S+)$/m.exec(body)?.[1]
  return found === undefined ? undefined : Number(found) * 1000
}

/** The second signal: the watch ends and writes what it has seen. */
async function readLoop({ kubelet }: RunningStack, file: string): Promise<Turn['loop']> {
  kubelet.kill('SIGUSR2')
  const deadline = performance.now() + ANSWER_TIMEOUT_MS
  while (!existsSync(file)) {
    if (performance.now() > deadline) throw new Error(`the event loop was not watched: ${file} is missing`)
    await sleep(50)
  }
  return JSON.parse(readFileSync(file, 'utf8')) as Turn['loop']
}

const perMinute = (usage: PartUsage, elapsedMs: number): PartUsage => {
  const scaled = Object.entries(usage).map(([part, u]) => [
    part,
    { cpuS: (u.cpuS * 60_000) / elapsedMs, rssMiB: u.rssMiB },
  ])
  return Object.fromEntries(scaled) as unknown as PartUsage
}

export async function runTurn(stack: StackName, o: TurnOptions): Promise<Turn> {
  const marksDirectory = join(o.directory, 'marks')
  await mkdir(o.directory, { recursive: true })
  const marks = await watchMarks(marksDirectory)
  const watchesLoop = o.rows.includes('loop') && stack !== 'upstream'
  const loopFile = join(o.directory, 'loop.json')
  const begin = await prepareStack(stack, o.programs, {
    ...o,
    env: watchesLoop ? { LOOP_FILE: loopFile, NODE_OPTIONS: `--import=${o.watchLoop}` } : {},
  })
  const began = performance.now()
  const running = begin()
  const write = (name: string): Promise<void> =>
    writePod(running.manifests, { name, image: o.image, marks: marksDirectory })
  const measured = async (work: () => Promise<unknown>): Promise<{ usage: PartUsage; ms: number }> => {
    const before = readUsage(running, o.runtimeCgroup)
    const from = performance.now()
    await work()
    const ms = performance.now() - from
    return { usage: usedBetween(before, readUsage(running, o.runtimeCgroup)), ms }
  }
  const wants = (...rows: readonly RowName[]): boolean => rows.some((row) => o.rows.includes(row))

  const runMany = async (): Promise<Partial<Turn>> => {
    const names = Array.from({ length: o.pods }, (_, i) => `many-${i}`)
    if (watchesLoop) running.kubelet.kill('SIGUSR2')
    const many = await measured(async () => {
      for (const name of names) await write(name)
      await marks.waitFor(names, PODS_TIMEOUT_MS)
    })
    o.log(`${stack}: ${o.pods} pods after ${(many.ms / 1000).toFixed(1)} s`)
    if (wants('rest', 'scrapes', 'loop')) await sleep(o.settleMs) // garbage of the start is collected
    const rest = wants('rest') ? await measured(() => sleep(o.windowMs)) : undefined
    if (wants('scrapes', 'loop')) await scrapeFor(SCRAPE_MS) // the first scrape fills caches
    const scraped = wants('scrapes') ? await measured(() => scrapeFor(o.windowMs)) : undefined
    const loop = watchesLoop ? await readLoop(running, loopFile) : undefined
    const loopDelayMs = stack === 'upstream' ? undefined : await longestLoopDelayMs()
    o.log(`${stack}: at rest and scraped`)
    const stopPods = await measured(async () => {
      for (const name of names) await removePod(running.manifests, name)
      await untilNoSandbox('stop')
    })
    return {
      manyMs: many.ms,
      many: many.usage,
      ...(rest && { rest: perMinute(rest.usage, rest.ms) }),
      ...(scraped && { scraped: perMinute(scraped.usage, scraped.ms) }),
      ...(loopDelayMs !== undefined && { loopDelayMs }),
      ...(loop && { loop }),
      stopPodsMs: stopPods.ms,
      stopPods: stopPods.usage,
    }
  }
  try {
    await untilHealthy(running, join(o.directory, 'kubelet.log'))
    const healthyMs = performance.now() - began
    const healthyCpuS = threadsCpuS(running.kubelet.pid ?? 0)
    o.log(`${stack}: healthy after ${healthyMs.toFixed(0)} ms`)
    await sleep(5_000) // what is done once after the start

    const singlePodMs: number[] = []
    for (let i = 0; wants('one') && i < o.singlePods; i++) {
      const name = `single-${i}`
      const written = performance.now()
      await write(name)
      await marks.waitFor([name], PODS_TIMEOUT_MS)
      singlePodMs.push((marks.started.get(name) ?? Number.NaN) - written)
      await removePod(running.manifests, name)
      await untilNoSandbox(name)
      await sleep(300)
    }
    if (wants('one')) o.log(`${stack}: ${o.singlePods} single pods`)

    const withPods = wants('many', 'rest', 'scrapes', 'stop', 'loop') ? await runMany() : {}
    const stopping = performance.now()
    await running.stopKubelet()
    const stopKubeletMs = performance.now() - stopping
    return { stack, healthyMs, healthyCpuS, singlePodMs, ...withPods, stopKubeletMs }
  } finally {
    marks.close()
    await running.stop()
    await rm(marksDirectory, { recursive: true, force: true })
  }
}

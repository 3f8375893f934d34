// `keelson up status`, `down` and `logs`: the running node of this user.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { isKeelsonError, keelsonError } from '../../core/errors.js'
import type { PodJson } from '../../core/pod/document.js'
import { formatAge } from '../../core/pod/printing.js'
import { cacheDirectory } from '../../lab/cache.js'
import type { Io } from '../io.js'
import { createKubeletClient } from '../pods/kubelet-client.js'
import { untilSignal } from '../process/signals.js'
import { outputFile } from './background.js'
import { followFile, lastLinesStart } from './follow-file.js'
import { keptLogs } from './keep-logs.js'
import { findRunning, isReady, type RunningUp } from './running.js'

/** As systemctl: the question was answered, and the answer is that nothing runs. */
const notRunningStatus = 3
/** Pods have seconds to end, and processes of the node after them. */
const stopMs = 120_000
const pollMs = 100

export const createStatusCommand = (io: Io): Command =>
  new Command('status')
    .description(
      'Show the running node: where it runs, its URL, its pods and its logs. Exit status 3: none is running.',
    )
    .addOption(
      new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
    )
    .action(async ({ output }: { readonly output: 'table' | 'json' }) => {
      const running = findRunning()
      if (running === undefined) io.exitCode = notRunningStatus
      if (output === 'json') io.stdout.write(`${JSON.stringify(await statusValue(running), null, 2)}\n`)
      else io.stdout.write(await statusText(running))
    })

async function readPods(running: RunningUp): Promise<readonly PodJson[] | string> {
  try {
    return await createKubeletClient({ rootDir: running.rootDir }).pods()
  } catch (e) {
    if (isKeelsonError(e)) return e.message
    throw e
  }
}

async function statusValue(running: RunningUp | undefined): Promise<object> {
  if (running === undefined) return { running: false }
  const pods = await readPods(running)
  const { startTicks: _, startedMs, port, ...rest } = running
  return {
    running: true,
    ready: isReady(running),
    ...rest,
    server: `https://127.0.0.1:${port}`,
    started: new Date(startedMs).toISOString(),
    pods:
      typeof pods === 'string'
        ? null
        : pods.map((p) => ({
            namespace: p.metadata.namespace,
            name: p.metadata.name,
            phase: p.status.phase,
          })),
  }
}

async function statusText(running: RunningUp | undefined): Promise<string> {
  if (running === undefined) return 'not running; start it with: keelson up -d\n'
  const { pid, place, port, startedMs, output, logDir } = running
  const pods = await readPods(running)
  const state = isReady(running) ? 'ready' : 'starting'
  const lines = [
    ['node', `${state}, ${place === 'lab' ? 'in a lab machine' : 'on this host'}`],
    [
      'process',
      `${pid}, started ${formatAge(BigInt(Date.now() - startedMs) * 1_000_000n)} ago${output === undefined ? '' : ', in the background'}`,
    ],
    ['kubelet', `https://127.0.0.1:${port}`],
    ['pods', typeof pods === 'string' ? `unknown: ${pods}` : podsText(pods)],
    ['logs', `keelson up logs (${logDir}/*.log)`],
    ['stop', output === undefined ? 'Ctrl-C in its terminal, or keelson up down' : 'keelson up down'],
  ]
  return lines.map(([name = '', text = '']) => `${name.padEnd(9)}${text}\n`).join('')
}

const podsText = (pods: readonly PodJson[]): string => {
  const others = pods.filter((p) => p.status.phase !== 'Running')
  const rest = others.map((p) => `${p.metadata.name} ${p.status.phase}`).join(', ')
  return `${pods.length - others.length} of ${pods.length} running${rest === '' ? '' : `; ${rest}`}`
}

export const createDownCommand = (io: Io): Command =>
  new Command('down').description('Stop the running node and remove everything of it.').action(async () => {
    const running = findRunning()
    if (running === undefined) {
      io.stdout.write('not running\n')
      return
    }
    process.kill(running.pid, 'SIGTERM')
    for (const until = Date.now() + stopMs; findRunning()?.pid === running.pid; await sleep(pollMs))
      if (Date.now() > until)
        throw keelsonError(
          'up.failed',
          `stop keelson up: process ${running.pid} is still running after ${stopMs / 1000} s; see keelson up logs`,
        )
    io.stdout.write('stopped and removed\n')
  })

interface LogsOptions {
  readonly follow?: boolean
  readonly tail?: number
}

const parseCount = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('use a whole number')
  return Number(text)
}

export const createLogsCommand = (io: Io): Command =>
  new Command('logs')
    .description(
      'Print the log of a part of the node: kubelet, cri, containerd, or up, the output of keelson up -d. If none is running, those of the last start that failed.',
    )
    .addArgument(new Argument('[part]', 'part of the node').choices(['kubelet', 'cri', 'containerd', 'up']))
    .option('-f, --follow', 'follow the log')
    .option('--tail <lines>', 'print only this many last lines', parseCount)
    .action(async (part: string | undefined, { follow = false, tail }: LogsOptions) => {
      const running = findRunning()
      const file = logFile(running, part, io.env)
      const from = tail === undefined ? 0 : await lastLinesStart(file, tail)
      const write = (text: string): unknown => io.stdout.write(text)
      const isOver = (signal: AbortSignal): boolean =>
        !follow || signal.aborted || running === undefined || findRunning()?.pid !== running.pid
      await untilSignal((signal) => followFile(file, write, { from, isOver: () => isOver(signal) }))
    })

/** Without a name: what `up -d` printed, else the kubelet's. */
function logFile(running: RunningUp | undefined, part: string | undefined, env: Io['env']): string {
  const dir = running?.logDir ?? keptLogs(cacheDirectory(env))
  const output = running === undefined ? outputFile(env) : running.output
  const places: Readonly<Record<string, string | undefined>> = { up: output }
  const candidates = part === undefined ? ['up', 'kubelet'] : [part]
  for (const name of candidates) {
    const path = name in places ? places[name] : join(dir, `${name}.log`)
    if (path !== undefined && existsSync(path)) return path
  }
  const names = existsSync(dir) ? readdirSync(dir).flatMap((f) => /^(.*)\.log$/.exec(f)?.[1] ?? []) : []
  throw keelsonError(
    'input.unreadable',
    `there is no log of ${part ?? 'a node'}${names.length === 0 ? '; start a node with keelson up -d' : `; in ${dir}: ${names.join(', ')}`}`,
  )
}

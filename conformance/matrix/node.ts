// Inside the environment: the processes of a cell around its runtime, and the record of its checks as lines of output.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { insideDirectory, type RuntimeName, socketOf } from '../node-environment/plan.js'
import { runtimeConfig } from '../node-environment/runtime.js'
import { type CheckLine, checkPrefix } from './check-line.js'

export const out = join(insideDirectory, 'out')
/** Of the images that every cell has. */
export const image = 'registry.k8s.io/e2e-test-images/busybox:1.29-2'
export const serverEndpoint = 'unix:///run/keelson/cri.sock'
export const directEndpoint = (runtime: RuntimeName): string => `unix://${socketOf(runtime)}`

/** Thrown by a check that has nothing to look at here. */
export class NotHere extends Error {}

const reasonOf = (e: unknown): string => (e instanceof Error ? e.message : String(e)).slice(0, 1_500)

/** The rest of the cell runs on after a check that fails. */
export async function check(name: string, body: () => Promise<unknown>): Promise<void> {
  const began = Date.now()
  const tell = (line: Pick<CheckLine, 'outcome' | 'reason' | 'values'>): void => {
    const seconds = Math.round((Date.now() - began) / 100) / 10
    process.stdout.write(`${checkPrefix}${JSON.stringify({ name, ...line, seconds })}\n`)
  }
  try {
    const values = await body()
    tell({ outcome: 'passed', ...(values === undefined ? {} : { values }) })
  } catch (e) {
    tell({ outcome: e instanceof NotHere ? 'not here' : 'failed', reason: reasonOf(e) })
  }
}

export async function until(what: string, seconds: number, ask: () => Promise<boolean>): Promise<number> {
  const began = Date.now()
  let last = ''
  for (const end = began + seconds * 1000; Date.now() < end; await sleep(200))
    try {
      if (await ask()) return Date.now() - began
    } catch (e) {
      last = `: ${reasonOf(e)}`
    }
  throw new Error(`not within ${seconds} s: ${what}${last}`)
}

export function startProcess(name: string, argv: readonly string[], env = process.env): ChildProcess {
  const log = openSync(join(out, `${name}.log`), 'a')
  return spawn(argv[0] ?? '', argv.slice(1), { stdio: ['ignore', log, log], env })
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), 30_000)
  await gone
  clearTimeout(timer)
}

const answers = async (endpoint: string): Promise<boolean> => {
  const client = createCriClient(endpoint, { timeoutMs: 2_000 })
  try {
    await client.runtime.version({})
    return true
  } finally {
    client.close()
  }
}

/** `keelson cri` in front of the runtime; resolves when it answers. */
export async function startServer(
  keelson: string,
  runtime: RuntimeName,
  { listen = serverEndpoint, values = 'repair' }: { listen?: string; values?: 'repair' | 'trust' } = {},
): Promise<ChildProcess> {
  const flags = [`--runtime-endpoint=${directEndpoint(runtime)}`, `--listen=${listen}`, `--values=${values}`]
  const config = [`--runtime-config=${runtimeConfig}`, '--port=0']
  const server = startProcess('cri', [process.execPath, keelson, 'cri', ...flags, ...config])
  await until('keelson cri answers', 120, () => answers(listen))
  return server
}

/** Kills the runtime, as a crash would, and starts it again with the words and variables that it had. */
export async function restartRuntime(runtime: RuntimeName): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((e) => /^\d+$/.test(e))) {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1)
    if (!words.includes(runtimeConfig) || words[0] === 'setpriv' || words[0] === 'sh') continue
    if (words.some((w) => w.startsWith('--runtime-config'))) continue
    const variables = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter((v) => v !== '')
    process.kill(Number(pid), 'SIGKILL')
    const env = Object.fromEntries(
      variables.map((v) => [v.slice(0, v.indexOf('=')), v.slice(v.indexOf('=') + 1)]),
    )
    await sleep(500)
    startProcess('runtime-again', words, env)
    await until('the runtime answers again', 120, () => answers(directEndpoint(runtime)))
    return
  }
  throw new Error('no runtime runs')
}

/** An answer of a kubelet's own port, whose certificate is its own. */
export async function askKubelet(path: string, method: 'GET' | 'POST' = 'GET'): Promise<string> {
  return await new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port: 10250, path, method, rejectUnauthorized: false, timeout: 60_000 },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('end', () => {
          if (response.statusCode === 200) resolve(text)
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`))
        })
        response.on('error', reject)
      },
    )
    call.on('timeout', () => call.destroy(new Error(`${path}: no answer`))).on('error', reject)
    call.end()
  })
}

/** Lists with a Stream* call and with the plain one. */
export async function compareStreams(client: CriClient): Promise<{ containers: number; sandboxes: number }> {
  const streamed: string[] = []
  for await (const { containers } of client.runtime.streamContainers({}, { timeoutMs: 30_000 }))
    streamed.push(...containers.map((c) => c.id))
  for await (const { podSandboxes } of client.runtime.streamPodSandboxes({}, { timeoutMs: 30_000 }))
    streamed.push(...podSandboxes.map((p) => p.id))
  const { containers } = await client.runtime.listContainers({})
  const { items } = await client.runtime.listPodSandbox({})
  const listed = [...containers, ...items].map((i) => i.id)
  if (streamed.toSorted().join() !== listed.toSorted().join())
    throw new Error(`streamed ${streamed.length}, listed ${listed.length}`)
  return { containers: containers.length, sandboxes: items.length }
}

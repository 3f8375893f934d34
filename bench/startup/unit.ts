// `startup`: `keelson --help` from the bundle against a Node that does nothing. CPU and wall time of whole processes. And what a
// kubelet on Node costs before it does anything: the modules of Node that it needs, two servers, the libraries, and its own program.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import { createSelfSigned } from '../../src/adapters/tls/self-signed.js'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'

const root = resolve(import.meta.dirname, '../..')
const bundle = resolve(root, 'dist/cli/main.js')
const RUNS = 25
const WARM_UP = 3
const MAX_RATIO = 2

const modules = ['tls', 'https', 'http2', 'crypto', 'child_process']
/** The first two are compared. The folder has a certificate and its key. */
const processesIn = (
  folder: string,
): readonly { readonly name: string; readonly args: readonly string[] }[] => [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'keelson --help', args: [bundle, '--help'] },
  {
    name: "node with the modules of a kubelet's client and server",
    args: ['-e', modules.map((name) => `require('node:${name}')`).join(';')],
  },
  {
    name: 'node with these modules, a TLS server and one for its health',
    args: [join(import.meta.dirname, 'least.mjs'), folder],
  },
  {
    name: 'the least kubelet: settings read, two calls to a runtime, both servers, compiled code kept',
    args: [join(import.meta.dirname, 'start-least-kubelet.mjs'), folder],
  },
  { name: 'keelson kubelet --version: the program is loaded', args: [bundle, 'kubelet', '--version'] },
]

interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
}

function timed(binary: string, args: readonly string[]): Cost {
  const [cpu, wall] = execFileSync(binary, [process.execPath, ...args], { encoding: 'utf8' })
    .split(' ')
    .map(Number)
  return { cpuMs: (cpu ?? Number.NaN) / 1e6, wallMs: (wall ?? Number.NaN) / 1e6 }
}

/** The least kubelet, and the runtime that it asks. */
async function startRuntime(folder: string, signal: AbortSignal): Promise<ChildProcess> {
  const socket = join(folder, 'cri.sock')
  await build({
    ...forNode,
    entryPoints: [join(import.meta.dirname, 'least-kubelet.ts')],
    outfile: join(folder, 'least-kubelet.mjs'),
    minifySyntax: true,
    minifyWhitespace: true,
  })
  writeFileSync(join(folder, 'kubelet.yaml'), `containerRuntimeEndpoint: unix://${socket}\n`)
  const program = [...process.execArgv, join(import.meta.dirname, 'runtime.ts'), socket]
  const runtime = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(runtime, 'exit').then(() => Promise.reject(new Error('the runtime ended at its start')))
  await Promise.race([once(runtime.stdout, 'data', { signal }), ended])
  ended.catch(() => {}) // it is ended with the run
  return runtime
}

const middle = (costs: readonly Cost[]): Cost => ({
  cpuMs: median(costs.map((c) => c.cpuMs)),
  wallMs: median(costs.map((c) => c.wallMs)),
})

async function run(signal: AbortSignal): Promise<BenchReport> {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  const processes = processesIn(folder)
  const costs = new Map(processes.map(({ name }): [string, Cost[]] => [name, []]))
  let runtime: ChildProcess | undefined
  try {
    runtime = await startRuntime(folder, signal)
    const pair = await createSelfSigned('bench', ['127.0.0.1'])
    for (const name of ['certificate', 'key'] as const)
      writeFileSync(join(folder, name), pair[name], { mode: 0o600 })
    const binary = join(folder, 'timed')
    execFileSync('gcc', ['-O2', '-o', binary, join(import.meta.dirname, 'timed.c')], { stdio: 'inherit' })
    for (let i = -WARM_UP; i < RUNS; i++) {
      signal.throwIfAborted()
      for (const { name, args } of processes) {
        const cost = timed(binary, args)
        if (i >= 0) costs.get(name)?.push(cost)
      }
    }
  } finally {
    runtime?.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  const rows = processes.map(({ name }) => ({ name, cost: middle(costs.get(name) ?? []) }))
  const [nothing, help] = rows.map(({ cost }) => cost)
  const ratio = (of: keyof Cost): number => (help?.[of] ?? Number.NaN) / (nothing?.[of] ?? Number.NaN)
  return {
    file: 'startup',
    title: 'Start-up',
    method: `Whole processes, medians of ${RUNS} alternating runs after ${WARM_UP} that do not count.`,
    columns: ['process', 'CPU ms', 'wall ms'],
    rows: rows.map(({ name, cost }) => [name, cost.cpuMs.toFixed(1), cost.wallMs.toFixed(1)]),
    targets: [
      atMost('CPU of `keelson --help` against bare node', ratio('cpuMs'), MAX_RATIO),
      atMost('wall time of `keelson --help` against bare node', ratio('wallMs'), MAX_RATIO),
    ],
  }
}

export const startup: BenchUnit = {
  name: 'startup',
  summary: '`keelson --help` from the bundle against `node -e 0`; what loading the kubelet costs',
  run,
}

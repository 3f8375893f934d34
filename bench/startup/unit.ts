// `startup`: `keelson --help` from the bundle against a Node that does nothing. CPU and wall time of whole processes.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'

const root = resolve(import.meta.dirname, '../..')
const bundle = resolve(root, 'dist/cli/main.js')
const RUNS = 25
const WARM_UP = 3
const MAX_RATIO = 2

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

const middle = (costs: readonly Cost[]): Cost => ({
  cpuMs: median(costs.map((c) => c.cpuMs)),
  wallMs: median(costs.map((c) => c.wallMs)),
})

async function run(signal: AbortSignal): Promise<BenchReport> {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' })
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bench-'))
  const ours: Cost[] = []
  const bare: Cost[] = []
  try {
    const binary = join(folder, 'timed')
    execFileSync('gcc', ['-O2', '-o', binary, join(import.meta.dirname, 'timed.c')], { stdio: 'inherit' })
    for (let i = -WARM_UP; i < RUNS; i++) {
      signal.throwIfAborted()
      const nothing = timed(binary, ['-e', '0'])
      const help = timed(binary, [bundle, '--help'])
      if (i < 0) continue
      bare.push(nothing)
      ours.push(help)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const row = (name: string, cost: Cost): string[] => [name, cost.cpuMs.toFixed(1), cost.wallMs.toFixed(1)]
  const [help, nothing] = [middle(ours), middle(bare)]
  return {
    file: 'startup',
    title: 'Start-up',
    method: `Whole processes, medians of ${RUNS} alternating runs after ${WARM_UP} that do not count.`,
    columns: ['process', 'CPU ms', 'wall ms'],
    rows: [row('keelson --help', help), row('node -e 0', nothing)],
    targets: [
      atMost('CPU against bare node', help.cpuMs / nothing.cpuMs, MAX_RATIO),
      atMost('wall against bare node', help.wallMs / nothing.wallMs, MAX_RATIO),
    ],
  }
}

export const startup: BenchUnit = {
  name: 'startup',
  summary: '`keelson --help` from the bundle against `node -e 0`',
  run,
}

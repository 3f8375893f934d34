// The sweep at both sizes: on this machine where a process may open enough files, else in a UML machine, where it may.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { measureSweeps, podsThatFit, type SweepResult } from './sweep.js'

export interface PlacedSweeps {
  readonly place: string
  readonly results: readonly SweepResult[]
}

const KEEP_OUTPUT = 4_000

async function inMachine(sizes: readonly number[]): Promise<SweepResult[]> {
  const out = mkdtempSync(join(tmpdir(), 'keelson-sweep-machine-'))
  let output = ''
  const sink = new PassThrough().on('data', (data: Buffer) => {
    output = (output + data.toString()).slice(-KEEP_OUTPUT)
  })
  try {
    const outcome = await runLab(
      labRequest({
        machine: 'uml',
        argv: [process.execPath, '--import', 'tsx', join(import.meta.dirname, 'sweep-inside.ts')],
        out,
        memoryMiB: 3072,
        timeoutS: 600,
        env: { SWEEP_SIZES: sizes.join(',') },
      }),
      { stdout: sink, stderr: sink },
    )
    if (exitCodeOf(outcome) !== 0) throw new Error(`the sweep in the machine failed:\n${output}`)
    return JSON.parse(readFileSync(join(out, 'sweep.json'), 'utf8')) as SweepResult[]
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** The small size on this machine in any case; both sizes in one place for their growth. */
export async function measureBothSizes(
  sizes: readonly number[],
  signal: AbortSignal,
): Promise<PlacedSweeps[]> {
  const fitting = sizes.filter((n) => n <= podsThatFit())
  const here = { place: 'this machine', results: await measureSweeps(fitting, signal) }
  if (fitting.length === sizes.length) return [here]
  return [here, { place: 'UML, cgroup v2', results: await inMachine(sizes) }]
}

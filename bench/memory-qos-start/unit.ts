// `memory-qos-start`: from a manifest to a running container with the gate MemoryQoS on and off, in turns, on real containerd
// in a lab machine.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitCodeOf, labRequest, runLab } from '../../src/lab/run-machine.js'
import { bundleForLab } from '../bundle-for-lab.js'
import { atMost, type BenchReport, type BenchUnit, median } from '../unit.js'

interface Times {
  readonly off: readonly number[]
  readonly on: readonly number[]
}

async function runInMachine(signal: AbortSignal): Promise<Times> {
  const out = mkdtempSync(join(tmpdir(), 'keelson-start-'))
  try {
    const module = join(out, 'inside.mjs')
    await bundleForLab(resolve(import.meta.dirname, 'inside.ts'), module)
    const outcome = await runLab(
      labRequest({
        machine: 'uml',
        argv: [process.execPath, module],
        out,
        containerd: { systemdCgroup: false },
        timeoutS: 900,
        env: process.env['BENCH_PODS'] === undefined ? {} : { BENCH_PODS: process.env['BENCH_PODS'] },
      }),
      { stdout: process.stderr, stderr: process.stderr },
      signal,
    )
    if (exitCodeOf(outcome) !== 0) throw new Error(`the machine ended with ${JSON.stringify(outcome)}`)
    return JSON.parse(readFileSync(join(out, 'memory-qos-start.json'), 'utf8')) as Times
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const row = (name: string, times: readonly number[]): string[] => {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0)
  return [name, String(times.length), at(0), median(times).toFixed(0), at(0.9), at(1)]
}

async function measure(signal: AbortSignal): Promise<BenchReport> {
  const { off, on } = await runInMachine(signal)
  return {
    file: 'memory-qos-start',
    title: 'Pod start with Memory QoS',
    method:
      'A UML machine with containerd 1.6 and the real kubelet, which is restarted with the gate off and on in turns ' +
      '(TieredReservation, factor 0.9). Each life starts one pod that is not counted and two that are, one after the ' +
      "other: from the manifest's appearance to the runtime's start time of the container. One Burstable container, " +
      "the node's network.",
    columns: ['gate', 'pods', 'least ms', 'p50 ms', 'p90 ms', 'most ms'],
    rows: [row('off', off), row('on', on)],
    targets: [atMost('p50, gate on against off', median(on) / median(off), 1.05)],
  }
}

export const memoryQosStart: BenchUnit = {
  name: 'memory-qos-start',
  summary: 'pod start with the gate MemoryQoS on against off, 20 pods each in turns (boots a lab machine)',
  run: measure,
}

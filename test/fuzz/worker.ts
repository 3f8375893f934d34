// One target in a thread of its own, so that an input that never ends can be noticed and ended from outside.
import { parentPort, workerData } from 'node:worker_threads'
import { fuzz } from './fuzz.js'
import { targets } from './targets/index.js'

export interface WorkerInput {
  readonly target: string
  readonly runs: number
  readonly seed: number
  readonly inputBudgetMs: number
  /** One 32-bit number: the input that is being worked on. */
  readonly progress: SharedArrayBuffer
}

const input = workerData as WorkerInput
const target = targets.find((t) => t.name === input.target)
if (target === undefined) throw new Error(`no fuzz target ${input.target}`)
const progress = new Int32Array(input.progress)
const { runs, seed, inputBudgetMs } = input
const onInput = (index: number): void => {
  Atomics.store(progress, 0, index)
}
parentPort?.postMessage(fuzz(target, { runs, seed, inputBudgetMs, onInput }))

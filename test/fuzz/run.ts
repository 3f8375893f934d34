// npm run fuzz -- [--runs N] [--seed S] [target...]: a million inputs through each parser, no crash and no hang.
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { type FuzzResult, formatFuzzResult, inputAt } from './fuzz.js'
import { targets } from './targets/index.js'
import type { FuzzTarget } from './types.js'
import type { WorkerInput } from './worker.js'

const inputBudgetMs = 2000
const hangMs = 15_000
// A thread does not inherit the TypeScript loader of this process, so it registers its own.
const bootstrap = `
  import('tsx/esm/api').then(({ register }) => {
    register()
    return import(${JSON.stringify(new URL('./worker.ts', import.meta.url).href)})
  })
`

const { values, positionals } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
})
const runs = Number(values.runs)
const seed = Number(values.seed)
const unknown = positionals.filter((name) => !targets.some((t) => t.name === name))
if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(seed) || unknown.length > 0) {
  console.error(`usage: npm run fuzz -- [--runs N] [--seed S] [${targets.map((t) => t.name).join('|')}]...`)
  process.exitCode = 2
} else {
  await runAll(targets.filter((t) => positionals.length === 0 || positionals.includes(t.name)))
}

async function runAll(chosen: readonly FuzzTarget[]): Promise<void> {
  let failed = 0
  for (const target of chosen) {
    const started = performance.now()
    const result = await runTarget(target)
    console.log(`${formatFuzzResult(result)}, ${((performance.now() - started) / 1000).toFixed(1)} s`)
    if (result.finding !== undefined) failed += 1
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

async function runTarget(target: FuzzTarget): Promise<FuzzResult> {
  const progress = new SharedArrayBuffer(4)
  const workerData: WorkerInput = { target: target.name, runs, seed, inputBudgetMs, progress }
  const worker = new Worker(bootstrap, { eval: true, workerData })
  const at = new Int32Array(progress)
  let last = -1
  let since = performance.now()
  return new Promise<FuzzResult>((resolve) => {
    const failed = (finding: string): FuzzResult => ({
      target: target.name,
      runs: Atomics.load(at, 0),
      accepted: 0,
      refused: 0,
      slowestMs: 0,
      finding,
    })
    const finish = (result: FuzzResult): void => {
      clearInterval(watch)
      void worker.terminate().then(() => resolve(result))
    }
    const watch = setInterval(() => {
      const now = Atomics.load(at, 0)
      if (now !== last) {
        last = now
        since = performance.now()
      } else if (performance.now() - since > hangMs) {
        const input = JSON.stringify(inputAt(target, seed, now), (_k, v: unknown) =>
          typeof v === 'bigint' ? `${v}` : v,
        )
        finish(
          failed(`seed ${seed}, input ${now}: no end after ${hangMs} ms\n  input ${input?.slice(0, 2000)}`),
        )
      }
    }, 500)
    worker.on('message', (result: FuzzResult) => finish(result))
    worker.on('error', (e) => finish(failed(String(e))))
  })
}

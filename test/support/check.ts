// A check is a named piece of a scenario that runs inside a kernel; this file also runs a list of them there and writes
// one line of JSON for each to $LAB_OUT, where lab-checks.ts on the outside picks them up.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Check {
  readonly name: string
  /** Default 60 s. */
  readonly timeoutMs?: number
  /** Throws when the check fails. What it returns is kept as a value of the result. */
  run(): unknown
}

/** Returned by a check that does not apply to this kernel; it is then reported as skipped. */
export class NotHere {
  readonly notHere: string
  constructor(reason: string) {
    this.notHere = reason
  }
}

export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  readonly ms: number
  readonly error?: string
  readonly skipped?: string
  readonly values?: unknown
}

export const resultsFile = 'results.jsonl'

const printable = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

async function runCheck(check: Check): Promise<CheckResult> {
  const started = performance.now()
  const ms = (): number => Math.round(performance.now() - started)
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_, reject) => {
      const limit = check.timeoutMs ?? 60_000
      timer = setTimeout(() => reject(new Error(`not done after ${limit} ms`)), limit)
    })
    const values = await Promise.race([Promise.resolve(check.run()), late])
    if (values instanceof NotHere) return { name: check.name, ok: true, ms: ms(), skipped: values.notHere }
    return { name: check.name, ok: true, ms: ms(), ...(values === undefined ? {} : { values }) }
  } catch (e) {
    const error = e instanceof Error ? (e.stack ?? e.message) : String(e)
    return { name: check.name, ok: false, ms: ms(), error }
  } finally {
    clearTimeout(timer)
  }
}

/** One after the other, in order; a failure does not keep the later ones from running. */
export async function runChecks(checks: readonly Check[]): Promise<never> {
  const file = join(process.env.LAB_OUT ?? '.', resultsFile)
  let failed = 0
  for (const check of checks) {
    const result = await runCheck(check)
    if (!result.ok) failed++
    appendFileSync(file, `${JSON.stringify(result, printable)}\n`)
  }
  process.exit(failed === 0 ? 0 : 1)
}

// How many files this process may have open: raised where that is allowed, else what there is.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseMaxOpenFiles } from '../src/core/kernel-text/proc-limits.js'

const current = (): bigint => {
  const limit = parseMaxOpenFiles(readFileSync('/proc/self/limits', 'utf8'))
  return limit === undefined || limit === 'unlimited' ? 1_048_576n : limit
}

/** Programs started later inherit it. Even root may be kept from raising it, in a container for example. */
export function raiseDescriptorLimit(wanted: number): number {
  if (current() < BigInt(wanted))
    try {
      execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${wanted}:${wanted}`], {
        stdio: 'ignore',
      })
    } catch {
      return Number(current())
    }
  return wanted
}

// A process of its own session that outlives a killed run and cleans up for it: ends what is left in the environment's
// cgroups, removes them and its directory. The run holds the other end of its standard input; the end of that is the signal.
import { rm } from 'node:fs/promises'
import { removeCgroups } from './cgroups.js'
import type { Hierarchy } from './plan.js'

export interface GuardianPlan {
  readonly directory: string
  readonly name: string
  readonly hierarchies: readonly Hierarchy[]
  /** Removed too when the run ended without a word, which is `done`. */
  readonly leftovers: readonly string[]
}

export async function guard(plan: GuardianPlan): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  let words = ''
  for await (const chunk of process.stdin) words = (words + String(chunk)).slice(-16)
  const clean = await removeCgroups(plan.hierarchies, plan.name)
  await rm(plan.directory, { recursive: true, force: true, maxRetries: 10 })
  if (!words.includes('done'))
    for (const path of plan.leftovers) await rm(path, { recursive: true, force: true, maxRetries: 10 })
  return clean ? 0 : 1
}

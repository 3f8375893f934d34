// For programs that run inside a cluster's node environment: checks, one line of JSON for each, and waiting.
import { setTimeout as sleep } from 'node:timers/promises'
import { type InsideCheck, linePrefix } from './inside-check.js'

const tell = (result: InsideCheck): void => {
  process.stdout.write(`${linePrefix}${JSON.stringify(result)}\n`)
}

/** A failure is recorded, and the program goes on. */
export async function check(name: string, body: () => Promise<void>): Promise<void> {
  try {
    await body()
    tell({ name })
  } catch (e) {
    tell({ name, problem: e instanceof Error ? e.message : String(e) })
  }
}

export async function until(what: string, seconds: number, ask: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(250)) if (await ask()) return
  throw new Error(`not within ${seconds} s: ${what}`)
}

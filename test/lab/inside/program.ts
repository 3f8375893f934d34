// A built program of some version as processes inside a machine: started, looked at, ended.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Started {
  readonly child: ChildProcess
  output(): string
  /** Until it has said this; fails when it ends before. */
  says(text: string): Promise<void>
  /** Its exit status, which must come by itself. */
  ended(): Promise<number | null>
  stop(): Promise<void>
}

/** A machine in a machine that has other work: only a hang meets it. */
const patienceMs = 500_000

export function start(argv: readonly string[]): Started {
  const [command = '', ...args] = argv
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = once(child, 'exit')
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      text = (text + data.toString()).slice(-100_000)
    })
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    child,
    output: () => text,
    async says(words) {
      for (const end = Date.now() + patienceMs; !text.includes(words); await sleep(50))
        assert.ok(!isOver() && Date.now() < end, `${argv.join(' ')} did not say "${words}":\n${text}`)
    },
    async ended() {
      for (const end = Date.now() + patienceMs; !isOver(); await sleep(50))
        assert.ok(Date.now() < end, `${argv.join(' ')} goes on:\n${text}`)
      return child.exitCode
    },
    async stop() {
      if (isOver()) return
      child.kill('SIGTERM')
      await gone
    },
  }
}

export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  more: () => string = () => '',
): Promise<T> {
  let last: unknown
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(200)) {
    try {
      const found = await look()
      if (found !== undefined) return found
    } catch (e) {
      last = e
    }
  }
  return assert.fail(`not within ${patienceMs} ms: ${what}; ${String(last)}\n${more()}`)
}

// The processes of the node: our own commands as children, each with its log, stopped with their parent.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { askPort } from '../../adapters/diagnosis/ask-port.js'
import { keelsonError, messageOf } from '../../core/errors.js'
import { endGroup, lastLines, startProgram } from '../../lab/process.js'
import type { Part } from '../../up/up-ports.js'

/** This program, however it was started. */
export const ownCommand = (): string[] => [process.execPath, ...process.execArgv, process.argv[1] ?? '']

const graceMs = 8_000

export function startPart(
  name: string,
  argv: readonly string[],
  log: string,
): Part & { readonly child: ChildProcess } {
  const fd = openSync(log, 'a')
  // If the parent is killed, the kernel kills the children.
  const child = startProgram(['setpriv', '--pdeathsig', 'KILL', ...ownCommand(), ...argv], {
    stdio: ['ignore', fd, fd],
  })
  closeSync(fd)
  const exit = once(child, 'exit').catch((e: unknown) => [messageOf(e)])
  return {
    child,
    ended: exit.then(async ([how]) => {
      const text = await readFile(log, 'utf8').catch(() => '')
      return `${name} exited (${String(how)}); the end of its log:\n${lastLines(text, 12)}`
    }),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await Promise.race([exit, sleep(graceMs, undefined, { ref: false })])
      }
      await endGroup(child)
    },
  }
}

/** Resolves when the question is answered with yes; a part that ends before ends the waiting. */
export async function waitUntil(
  ready: () => Promise<boolean>,
  part: Part,
  what: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + timeoutMs
  let dead: string | undefined
  void part.ended.then((why) => {
    dead = why
  })
  while (!(await ready())) {
    if (dead !== undefined) throw keelsonError('up.failed', dead)
    if (performance.now() > until)
      throw keelsonError('up.failed', `${what} was not ready after ${timeoutMs / 1000} s`)
    await sleep(100, undefined, { signal })
  }
}

export const takesConnections = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = connect(path)
    const end = (answer: boolean): void => {
      probe.destroy()
      resolve(answer)
    }
    probe.on('connect', () => end(true)).on('error', () => end(false))
  })

export const isHealthy = async (port: number): Promise<boolean> =>
  (await askPort({ what: 'healthz', address: '127.0.0.1', port, path: '/healthz', tls: false }, 2_000))
    .answer === 200

// `keelson up -d`: the same command as a process of its own, whose output is shown until the node is ready.
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.js'
import { startProgram } from '../../lab/process.js'
import type { Io } from '../io.js'
import { untilSignal } from '../process/signals.js'
import { followFile } from './follow-file.js'
import { busy } from './lock.js'
import { ownCommand } from './parts.js'
import { findRunning, isReady } from './running.js'

/** Outside of the node's own directory, so that it is there after a start that failed. */
export const outputFile = (env: Io['env']): string => join(cacheDirectory(env), 'up.log')

export async function startInBackground(args: readonly string[], io: Io): Promise<void> {
  const other = findRunning()
  if (other !== undefined) throw busy(other.pid)
  const output = outputFile(io.env)
  mkdirSync(dirname(output), { recursive: true })
  const fd = openSync(output, 'w', 0o600)
  const child = startProgram([...ownCommand(), 'up', ...args, '--background', output], {
    stdio: ['ignore', fd, fd],
  })
  closeSync(fd)
  let status: number | undefined
  const exit = once(child, 'exit').then(([code]) => {
    status = typeof code === 'number' ? code : 1
  })
  const isUp = (): boolean => {
    const running = findRunning()
    return running?.pid === child.pid && running !== undefined && isReady(running)
  }
  await untilSignal(
    (signal) => {
      signal.addEventListener('abort', () => child.kill('SIGINT'), { once: true })
      const isOver = (): boolean => status !== undefined || (!signal.aborted && isUp())
      return followFile(output, (text) => io.stdout.write(text), { from: 0, isOver })
    },
    { again: 'ignored' },
  )
  if (status === undefined) {
    child.unref()
    return
  }
  await exit
  io.exitCode = status
}

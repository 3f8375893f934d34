// The real command as a process: started with pipes, looked at from the outside.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

export { type Bundle, bundleCommand } from './bundle.js'

export interface RunningCommand {
  readonly process: ChildProcess
  /** Standard error so far. */
  output(): string
  /** The exit status, or the name of the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  /** Resolves once the text was printed; rejects when the process ends or the time is up before. */
  says(text: string | RegExp, timeoutMs?: number): Promise<void>
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>
}

/** A run that is stopped by a signal takes its commands with it. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export function startCommand(
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningCommand {
  const child = spawn(process.execPath, [...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let text = ''
  const listeners = new Set<() => void>()
  const take = (data: Buffer): void => {
    text += data.toString()
    for (const listener of listeners) listener()
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  return {
    process: child,
    output: () => text,
    ended,
    says: (wanted, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const has = (): boolean => (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text))
        const finish = (error?: Error): void => {
          clearTimeout(timer)
          listeners.delete(look)
          if (error === undefined) resolve()
          else reject(error)
        }
        const look = (): void => {
          if (has()) finish()
        }
        const timer = setTimeout(() => finish(new Error(`never said ${wanted}:\n${text}`)), timeoutMs)
        listeners.add(look)
        ended.then((code) => finish(has() ? undefined : new Error(`ended with ${code}:\n${text}`)), finish)
        look()
      }),
    end(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** Whoever was given a port may not have taken it yet. */
const given = new Set<number>()

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return server
    }),
  )
  const ports = servers.map((server) => {
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  })
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))))
  if (ports.some((port) => given.has(port))) return freePorts(count)
  for (const port of ports) given.add(port)
  return ports
}

// `keelson cri` as a process of its own, looked at through /proc: descriptors and memory are the server's alone.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningCommand, startCommand } from '../support/command.js'

export interface ServerProcess {
  readonly socketPath: string
  readonly endpoint: string
  readonly command: RunningCommand
  descriptors(): number
  /** Resident memory in MiB. */
  residentMiB(): number
  restart(): Promise<void>
  close(): Promise<void>
}

export async function startServerProcess(main: string, upstream: string): Promise<ServerProcess> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-server-'))
  const socketPath = join(dir, 'cri.sock')
  const start = async (): Promise<RunningCommand> => {
    const command = startCommand([
      main,
      'cri',
      '--runtime-endpoint',
      upstream,
      '--listen',
      `unix://${socketPath}`,
      '--port',
      '0',
    ])
    await command.says('CRI server started')
    return command
  }
  let command = await start()
  const pid = (): number => command.process.pid ?? 0
  return {
    socketPath,
    endpoint: `unix://${socketPath}`,
    get command() {
      return command
    },
    descriptors: () => readdirSync(`/proc/${pid()}/fd`).length,
    residentMiB() {
      const status = readFileSync(`/proc/${pid()}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024
    },
    async restart() {
      await command.end('SIGKILL')
      command = await start()
    },
    async close() {
      await command.end('SIGKILL')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

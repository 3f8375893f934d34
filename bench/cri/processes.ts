// The server under test and the scripted runtime as processes of their own, so that neither shares a loop with the client.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const root = resolve(import.meta.dirname, '../..')

export function buildBundle(): void {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'inherit' })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export interface Scripted {
  readonly endpoint: string
  close(): Promise<void>
}

export async function startScripted(streams: number, messages: number): Promise<Scripted> {
  const file = join(import.meta.dirname, 'upstream.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', file, String(streams), String(messages)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: root,
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { endpoint: line.toString().trim(), close: () => end(child) }
}

export interface Server {
  readonly endpoint: string
  residentMiB(): number
  close(): Promise<void>
}

export async function startServer(upstream: string): Promise<Server> {
  const dir = mkdtempSync(join(tmpdir(), 'keelson-bench-cri-'))
  const socket = join(dir, 'cri.sock')
  const child = spawn(
    process.execPath,
    [
      join(root, 'dist/cli/main.js'),
      'cri',
      '--runtime-endpoint',
      upstream,
      '--listen',
      `unix://${socket}`,
      '--port',
      '0',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  for (let i = 0; i < 500 && !existsSync(socket); i++) await sleep(20)
  return {
    endpoint: `unix://${socket}`,
    residentMiB() {
      const status = readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8')
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024
    },
    async close() {
      await end(child)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

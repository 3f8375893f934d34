// How the tests of the server start the process they look at. A real command takes the place of the stand-in by
// another `Start`: settings in, ready process out.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { defaultSettings, type ServeSettings } from '../../src/serve/settings.js'

export type ProcessName = 'kubelet' | 'companion' | 'cri'

export interface Served {
  readonly url: string
  readonly port: number
  readonly healthPort?: number
  readonly readOnlyPort?: number
  readonly pid: number
  /** What the process logged so far. */
  log(): string
  stop(): Promise<void>
}

export interface StartInput {
  readonly settings: ServeSettings
  readonly kubeconfig?: string
}

export type Start = (input: StartInput) => Promise<Served>

/** Free ports, files of its own, everything else as it is by default. */
export const settingsIn = (
  directory: string,
  process: ProcessName,
  more: Partial<ServeSettings> = {},
): ServeSettings => ({
  ...defaultSettings(process, 'node-1'),
  address: '127.0.0.1',
  port: 0,
  healthzPort: 0,
  certDirectory: join(directory, 'pki'),
  localTokenFile: join(directory, 'token'),
  ...more,
})

export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'keelson-serve-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

function firstLine(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('the process has no output')
    createInterface(child.stdout).once('line', resolve)
    child.once('exit', (code) =>
      reject(new Error(`the process ended with ${code} before it was ready: ${log()}`)),
    )
  })
}

/** The stand-in: it calls startNodeServer exactly as the commands do. */
export const startStandIn: Start = async ({ settings, kubeconfig }) => {
  const directory = temporaryDirectory()
  const file = join(directory.path, 'input.json')
  const logFile = join(directory.path, 'log')
  writeFileSync(file, JSON.stringify({ settings, kubeconfig }))
  const script = join(import.meta.dirname, 'process.ts')
  const logFd = openSync(logFile, 'a')
  const child = spawn(process.execPath, ['--import', 'tsx', script, file], {
    stdio: ['ignore', 'pipe', logFd],
  })
  closeSync(logFd)
  const log = (): string => readFileSync(logFile, 'utf8')
  const ready = JSON.parse(await firstLine(child, log)) as Omit<Served, 'pid' | 'log' | 'stop'>
  return {
    ...ready,
    pid: child.pid ?? 0,
    log,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => {
          directory.remove()
          resolve()
        })
        child.kill('SIGTERM')
      }),
  }
}

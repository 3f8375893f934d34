// `keelson kubelet` inside a machine, in this process: a second node process would take as long as the machine's boot.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../../src/cli/io.js'
import { run } from '../../src/cli/program.js'

const SAYS_TIMEOUT_MS = 60_000

/** What /configz shows of the driver. */
export interface ShownDriver {
  readonly driver: string
  readonly source: string
  readonly fallback: string | null
  readonly sandboxesThatAgree: number
  readonly findings: readonly { readonly id: string; readonly remedy: string }[]
}

export interface Kubelet {
  output(): string
  /** Exit status. */
  readonly ended: Promise<number>
  says(text: string): Promise<void>
  shownDriver(): Promise<ShownDriver>
  end(): Promise<number>
}

export function startKubelet(endpoint: string, flags: readonly string[]): Kubelet {
  const rootDir = mkdtempSync('/run/kubelet-')
  let text = ''
  const sink = {
    write: (line: string) => {
      text += line
      return true
    },
  }
  const io: Io = { stdout: sink, stderr: sink, stdin: process.stdin, env: process.env, exitCode: 0 }
  const place = [`--root-dir=${rootDir}`, '--address=127.0.0.1', '--hostname-override=lab']
  const ended = run(['kubelet', ...place, `--container-runtime-endpoint=${endpoint}`, ...flags], io)
  return {
    output: () => text,
    ended,
    async says(wanted) {
      for (const until = Date.now() + SAYS_TIMEOUT_MS; !text.includes(wanted); await sleep(50))
        if (Date.now() > until) assert.fail(`never said ${wanted}:\n${text}`)
    },
    async shownDriver() {
      const token = readFileSync(`${rootDir}/keelson-token`, 'utf8').trim()
      return JSON.parse(await page('/configz', token)).keelson.cgroupDriver
    },
    end() {
      process.kill(process.pid, 'SIGTERM')
      return ended
    },
  }
}

const page = (path: string, token: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const place = {
      host: '127.0.0.1',
      port: 10250,
      path,
      headers,
      rejectUnauthorized: false,
      timeout: 20_000,
    }
    const outgoing = request(place, (answer) => {
      let body = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        body += part
      })
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve(body) : reject(new Error(`${answer.statusCode} ${body}`)),
      )
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${path}: no answer`)))
    outgoing.once('error', reject).end()
  })

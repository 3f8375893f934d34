// The real `keelson cri` and `keelson companion` on a node of files, with a browser's login.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { ask } from '../serve/client.js'
import {
  type Bundle,
  bundleCommand,
  freePorts,
  type RunningCommand,
  startCommand,
} from '../support/command.js'
import type { DashboardFixture } from '../support/dashboard-fixture.js'

export interface ServedFixture {
  readonly port: number
  readonly url: string
  readonly pid: number
  readonly token: string
  /** A link that logs a browser in, once. */
  loginLink(): Promise<string>
  get(path: string): Promise<string>
  /** A client's call through the CRI server. */
  callVersion(): Promise<void>
  /** What the command printed. */
  output(): string
  stop(): Promise<void>
  /** The same command on the same port. */
  start(): Promise<void>
  close(): Promise<void>
}

async function serve(
  argv: readonly string[],
  isUp: string,
  port: number,
  directory: string,
  bundle: Bundle,
  after: () => Promise<void>,
): Promise<ServedFixture> {
  let running: RunningCommand
  const start = async (): Promise<void> => {
    running = startCommand([
      bundle.main,
      ...argv,
      '--address=127.0.0.1',
      `--port=${port}`,
      '--node-name=node-1',
      `--cert-dir=${join(directory, 'pki')}`,
      `--token-file=${join(directory, 'token')}`,
    ])
    await running.says(isUp, 60_000)
  }
  const stop = async (): Promise<void> => {
    await running.end()
  }
  await start()
  const token = readFileSync(join(directory, 'token'), 'utf8').trim()
  const url = `https://127.0.0.1:${port}`
  return {
    port,
    url,
    get pid() {
      return running.process.pid ?? 0
    },
    token,
    async loginLink() {
      const told = await ask({ port, method: 'POST', path: '/login', token })
      if (told.status !== 201) throw new Error(`no ticket: ${told.status} ${told.body}`)
      return url + (JSON.parse(told.body) as { path: string }).path
    },
    async get(path) {
      const told = await ask({ port, path, token })
      if (told.status !== 200) throw new Error(`${path}: ${told.status} ${told.body}`)
      return told.body
    },
    async callVersion() {
      const client = createCriClient(`unix://${join(directory, 'cri.sock')}`, { timeoutMs: 5_000 })
      try {
        await client.runtime.version({}, {})
      } finally {
        client.close()
      }
    },
    output: () => running.output(),
    stop,
    start,
    async close() {
      await stop()
      await after()
      await bundle.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export async function serveCri(fixture: DashboardFixture): Promise<ServedFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-dashboard-'))
  const [port = 0] = await freePorts(1)
  const argv = [
    'cri',
    `--runtime-endpoint=${fixture.runtime.endpoint}`,
    `--listen=unix://${join(directory, 'cri.sock')}`,
    `--cgroup-mount=${fixture.cgroupRoot}`,
    `--proc-mount=${fixture.proc}`,
  ]
  return serve(argv, 'CRI server started', port, directory, await bundleCommand(), () => Promise.resolve())
}

const kubeletAnswers = (fixture: DashboardFixture): Readonly<Record<string, unknown>> => ({
  '/configz': {
    kubeletconfig: { cgroupRoot: '/', cgroupDriver: 'cgroupfs', enforceNodeAllocatable: ['pods'] },
  },
  '/pods': {
    kind: 'PodList',
    apiVersion: 'v1',
    items: fixture.pods.slice(0, 1).map((pod) => ({
      metadata: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
      spec: {
        containers: pod.containers.map((c) => ({
          name: c.name,
          image: 'example',
          resources: { requests: { memory: '16Mi' }, limits: { memory: '200Mi' } },
        })),
      },
      status: { phase: 'Running' },
    })),
  },
})

export async function serveCompanion(fixture: DashboardFixture): Promise<ServedFixture> {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-dashboard-'))
  const kubelet = createServer((req, res) => {
    const body = kubeletAnswers(fixture)[new URL(req.url ?? '/', 'http://x').pathname] ?? {}
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  kubelet.listen(0, '127.0.0.1')
  await once(kubelet, 'listening')
  const [port = 0] = await freePorts(1)
  const argv = [
    'companion',
    `--kubelet-url=http://127.0.0.1:${(kubelet.address() as AddressInfo).port}`,
    `--runtime-endpoint=${fixture.runtime.endpoint}`,
    `--state-dir=${join(directory, 'state')}`,
    `--cgroup-mount=${fixture.cgroupRoot}`,
    `--proc-mount=${fixture.proc}`,
    '--period=1',
  ]
  const bundle = await bundleCommand()
  return serve(argv, 'companion started', port, directory, bundle, async () => {
    kubelet.closeAllConnections()
    await new Promise((resolve) => kubelet.close(resolve))
  })
}

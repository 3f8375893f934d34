// `keelson kubelet` with static pods inside a machine: the command as main.ts runs it, in this process, because a second one
// would take as long as the machine's boot.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Io } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import type { PodJson } from '../../../src/core/pod/document.js'
import type { Container, PodSandbox } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { cgroupOf, connect, endpoint, pidOf } from './pod.js'

const root = '/tmp/pods'
const manifests = `${root}/manifests`
const port = 10250
export const cgroupRoot = '/sys/fs/cgroup'

export const driver = (): 'cgroupfs' | 'systemd' =>
  process.env['LAB_DRIVER'] === 'systemd' ? 'systemd' : 'cgroupfs'

export class LabKubelet {
  private text = ''
  private ended: Promise<number> | undefined
  private connected: CriClient | undefined

  /** Connected on first use: outside the machine this file is only read for its names. */
  get cri(): CriClient {
    this.connected ??= connect()
    return this.connected
  }

  output(): string {
    return this.text
  }

  async start(): Promise<void> {
    mkdirSync(manifests, { recursive: true })
    writeFileSync(
      `${root}/kubelet.yaml`,
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${manifests}
podLogsDir: ${root}/log/pods
address: 127.0.0.1
port: ${port}
cgroupDriver: ${driver()}
failSwapOn: false
containerRuntimeEndpoint: ${endpoint()}
`,
    )
    writeFileSync(
      `${root}/keelson.yaml`,
      'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nstaticPodResize: InPlace\n',
    )
    this.text = ''
    const sink = {
      write: (line: string) => {
        this.text += line
        return true
      },
    }
    const io: Io = { stdout: sink, stderr: sink, stdin: process.stdin, env: process.env, exitCode: 0 }
    this.ended = run(
      [
        'kubelet',
        `--config=${root}/kubelet.yaml`,
        `--keelson-config=${root}/keelson.yaml`,
        `--root-dir=${root}/root`,
        '--hostname-override=node-1',
        '--kubernetes-version=1.36',
      ],
      io,
    )
    await this.until('the kubelet is up', () => this.text.includes('the kubelet is up'))
  }

  async stop(): Promise<void> {
    process.kill(process.pid, 'SIGTERM')
    assert.equal(await this.ended, 0, this.text)
  }

  pod(name: string, spec: object): void {
    const document = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }
    writeFileSync(`${manifests}/${name}.yaml`, JSON.stringify(document))
  }

  async end(name: string): Promise<void> {
    rmSync(`${manifests}/${name}.yaml`)
    await this.until(`${name} has gone`, async () => (await this.sandboxes(name)).length === 0)
    await this.until(`${name} is forgotten`, async () => (await this.podNamed(name)) === undefined)
  }

  async podNamed(name: string): Promise<PodJson | undefined> {
    const token = readFileSync(`${root}/root/keelson-token`, 'utf8').trim()
    const { items } = JSON.parse(await page('/pods', token)) as { readonly items: readonly PodJson[] }
    return items.find((pod) => pod.metadata.name === `${name}-node-1`)
  }

  async running(name: string): Promise<PodJson> {
    return this.until(`${name} is ready`, async () => {
      const pod = await this.podNamed(name)
      const isReady = pod?.status.conditions.some((c) => c.type === 'Ready' && c.status === 'True')
      return isReady === true ? pod : undefined
    })
  }

  async containers(name: string): Promise<readonly Container[]> {
    const { containers } = await this.cri.runtime.listContainers({})
    return containers.filter((c) => c.labels['io.kubernetes.pod.name'] === `${name}-node-1`)
  }
  async sandboxes(name: string): Promise<readonly PodSandbox[]> {
    const { items } = await this.cri.runtime.listPodSandbox({})
    return items.filter((s) => s.labels['io.kubernetes.pod.name'] === `${name}-node-1`)
  }

  /** Where the kernel says that the pod's only container is, and its pod. */
  async places(name: string): Promise<{ readonly pid: number; readonly own: string; readonly pod: string }> {
    const [container] = (await this.containers(name)).filter((c) => c.state === 1)
    assert.ok(container, `${name} has no running container`)
    const pid = await pidOf(this.cri, container.id)
    const own = cgroupOf(pid)
    return { pid, own, pod: own.slice(0, own.lastIndexOf('/')) }
  }

  /** Cgroups, directories and logs of pods. */
  leftovers(): readonly string[] {
    const cgroups = readdirSync(cgroupRoot, { recursive: true, withFileTypes: true })
      .filter((e) => e.isDirectory() && /pod[0-9a-f]{32}/.test(e.name))
      .map((e) => `${e.parentPath}/${e.name}`)
    const list = (path: string): string[] => (existsSync(path) ? readdirSync(path) : [])
    return [...cgroups, ...list(`${root}/root/pods`), ...list(`${root}/log/pods`)]
  }

  async until<T>(
    what: string,
    look: () => Promise<T | undefined | false> | T | undefined | false,
    timeoutMs = 50_000,
  ): Promise<T> {
    for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(200)) {
      const found = await look()
      if (found !== undefined && found !== false) return found
    }
    assert.fail(`not within ${timeoutMs} ms: ${what}\n${this.text.slice(-3000)}`)
  }
}

export const kernelValue = (cgroup: string, file: string): string =>
  readFileSync(`${cgroupRoot}${cgroup}/${file}`, 'utf8').trim()

const page = (path: string, token: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    request({ host: '127.0.0.1', port, path, headers, rejectUnauthorized: false }, (res) => {
      let body = ''
      res.on('data', (part: Buffer) => {
        body += part.toString()
      })
      res.on('end', () => resolve(body))
    })
      .on('error', reject)
      .end()
  })

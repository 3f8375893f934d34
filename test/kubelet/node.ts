// A whole node on this host for scenarios: a containerd of its own and the real `keelson kubelet` as a process, with root
// directory, logs, cgroup root and ports of its own, and everything looked at from outside. Nothing is left after close().
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import type { PodJson } from '../../src/core/pod/document.js'
import type { Container, PodSandbox } from '../../src/cri-api/api.js'
import { cacheDirectory } from '../../src/lab/cache.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { ensureImages, imageReferences } from '../../src/lab/images/images.js'
import type { CgroupTree } from '../../src/ports/cgroups.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { ask, type Told } from '../serve/client.js'
import {
  type Bundle,
  bundleCommand,
  freePorts,
  type RunningCommand,
  startCommand,
} from '../support/command.js'

export const busybox = imageReferences.busybox

export interface NodeOptions {
  /** Lines of KubeletConfiguration. */
  readonly config?: string
  readonly keelsonConfig?: string
  /** `keelson cri` stands between the kubelet and containerd. Default: what $KEELSON_TEST_THROUGH_CRI says. */
  readonly throughCri?: boolean
  /** --root-dir is a link to a directory elsewhere. */
  readonly linkedRoot?: boolean
}

/** Set for a whole run of scenarios, which then go through the CRI server unchanged. */
export const throughCriVariable = 'KEELSON_TEST_THROUGH_CRI'

export interface Answer {
  readonly status: number
  readonly body: string
}

export class PodNode {
  private kubelet: RunningCommand | undefined
  private port = 0
  /** Of the health endpoint. */
  healthPort = 0

  private constructor(
    readonly directory: string,
    readonly containerd: PrivateContainerd,
    readonly cri: CriClient,
    readonly cgroupRoot: string,
    readonly cgroups: CgroupTree,
    private readonly bundle: Bundle,
    private readonly options: NodeOptions,
    private readonly between: CriBetween | undefined,
  ) {}

  static async create(options: NodeOptions = {}): Promise<PodNode> {
    const directory = await mkdtemp(join(tmpdir(), 'keelson-pods-'))
    const archive = await ensureImages(cacheDirectory(process.env), AbortSignal.timeout(120_000))
    const containerd = await startPrivateContainerd({ archives: [archive] })
    const cri = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
    await mkdir(join(directory, 'manifests'))
    if (options.linkedRoot === true) {
      await mkdir(join(directory, 'data'))
      await symlink(join(directory, 'data'), join(directory, 'root'))
    }
    const root = `/keelson-test-${randomBytes(4).toString('hex')}`
    const cgroups = createCgroupTree(readCgroupLayout())
    const bundle = await bundleCommand()
    const isThrough = options.throughCri ?? process.env[throughCriVariable] === '1'
    const between = isThrough ? await startBetween(bundle, containerd, directory) : undefined
    return new PodNode(directory, containerd, cri, root, cgroups, bundle, options, between)
  }

  get serverPort(): number {
    return this.port
  }
  get tokenFile(): string {
    return join(this.rootDir, 'keelson-token')
  }
  get manifests(): string {
    return join(this.directory, 'manifests')
  }
  get rootDir(): string {
    return join(this.directory, 'root')
  }
  get logs(): string {
    return join(this.directory, 'log/pods')
  }

  /** A node that is started again keeps its port: whoever scrapes it finds it there. */
  async start(flags: readonly string[] = []): Promise<RunningCommand> {
    const [fresh = 0, healthPort = 0] = await freePorts(2)
    this.healthPort = healthPort
    if (this.port === 0) this.port = fresh
    const { port } = this
    const config = join(this.directory, 'kubelet.yaml')
    await writeFile(
      config,
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${this.manifests}
podLogsDir: ${this.logs}
failCgroupV1: false
failSwapOn: false
address: 127.0.0.1
port: ${port}
healthzPort: ${healthPort}
cgroupRoot: ${this.cgroupRoot}
containerRuntimeEndpoint: ${this.between?.endpoint ?? this.containerd.endpoint}
${this.options.config ?? ''}`,
    )
    const keelson = join(this.directory, 'keelson.yaml')
    await writeFile(
      keelson,
      `apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\n${this.options.keelsonConfig ?? ''}`,
    )
    this.kubelet = startCommand([
      this.bundle.main,
      'kubelet',
      `--config=${config}`,
      `--keelson-config=${keelson}`,
      `--root-dir=${this.rootDir}`,
      '--hostname-override=node-1',
      '--node-ip=192.0.2.1',
      ...flags,
    ])
    await this.kubelet.says('the kubelet is up')
    return this.kubelet
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.kubelet?.end(signal)
    this.kubelet = undefined
  }

  log(): string {
    return this.kubelet?.output() ?? ''
  }

  get pid(): number {
    return this.kubelet?.process.pid ?? 0
  }

  async write(name: string, text: string): Promise<void> {
    await writeFile(join(this.manifests, name), text)
  }
  async removeManifest(name: string): Promise<void> {
    await rm(join(this.manifests, name))
  }

  /** A pod of containers from shell commands. */
  async pod(name: string, spec: Readonly<Record<string, unknown>>, metadata: object = {}): Promise<void> {
    const document = { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec }
    await this.write(`${name}.yaml`, JSON.stringify(document))
  }

  async ask(path: string, method = 'GET', headers: Readonly<Record<string, string>> = {}): Promise<Told> {
    const token = (await readFile(this.tokenFile, 'utf8')).trim()
    return ask({ port: this.port, path, token, method, headers })
  }

  /** The arguments that point a keelson command at this node. */
  get reach(): readonly string[] {
    return [`--server=https://127.0.0.1:${this.port}`, `--root-dir=${this.rootDir}`]
  }
  get main(): string {
    return this.bundle.main
  }

  async pods(): Promise<readonly PodJson[]> {
    const { body } = await this.ask('/pods')
    return (JSON.parse(body) as { readonly items: readonly PodJson[] }).items
  }

  async podNamed(name: string): Promise<PodJson | undefined> {
    return (await this.pods()).find((pod) => pod.metadata.name === `${name}-node-1`)
  }

  /** The runtime's own view. */
  async containers(name?: string): Promise<readonly Container[]> {
    const { containers } = await this.cri.runtime.listContainers({})
    return containers.filter(
      (c) => name === undefined || c.labels['io.kubernetes.pod.name'] === `${name}-node-1`,
    )
  }
  async sandboxes(name?: string): Promise<readonly PodSandbox[]> {
    const { items } = await this.cri.runtime.listPodSandbox({})
    return items.filter((s) => name === undefined || s.labels['io.kubernetes.pod.name'] === `${name}-node-1`)
  }

  async readLog(name: string, container: string): Promise<string> {
    const { body } = await this.ask(`/containerLogs/default/${name}-node-1/${container}`)
    return body
  }

  /** What pods may leave: cgroups, directories, mounts, log directories. */
  async leftovers(): Promise<readonly string[]> {
    const list = (path: string): string[] =>
      existsSync(path) ? readdirSync(path).map((n) => `${path}/${n}`) : []
    const cgroups = this.cgroups.walk(this.cgroupRoot).filter((path) => /pod[0-9a-f]{32}/.test(path))
    const mounts = (await readFile('/proc/self/mountinfo', 'utf8'))
      .split('\n')
      .filter((l) => l.includes(this.directory))
    return [
      ...cgroups,
      ...list(join(this.rootDir, 'pods')),
      ...list(this.logs),
      ...list(join(this.directory, 'log/containers')),
      ...mounts,
    ]
  }

  async close(): Promise<void> {
    await this.stop('SIGKILL')
    await this.between?.server.end('SIGTERM')
    this.cri.close()
    await this.containerd.close()
    await removeCgroups(this.cgroups, this.cgroupRoot)
    this.cgroups.close()
    await this.bundle.remove()
    await rm(this.directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

export interface CriBetween {
  readonly endpoint: string
  readonly server: RunningCommand
}

/** `keelson cri` in front of the containerd. */
export async function startBetween(
  bundle: Pick<Bundle, 'main'>,
  containerd: PrivateContainerd,
  directory: string,
): Promise<CriBetween> {
  const endpoint = `unix://${join(directory, 'cri.sock')}`
  const server = startCommand([
    bundle.main,
    'cri',
    `--runtime-endpoint=${containerd.endpoint}`,
    `--listen=${endpoint}`,
    `--runtime-config=${join(containerd.dir, 'config.toml')}`,
    '--port=0',
  ])
  await server.says('CRI server started')
  return { endpoint, server }
}

async function removeCgroups(cgroups: CgroupTree, root: string): Promise<void> {
  if (cgroups.exists(root)) await cgroups.remove(root, { timeoutMs: 10_000 })
}

/** Until it is so; the last answer is in the message when it never is. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 20_000,
  pollMs = 100,
): Promise<T> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(pollMs)
  }
}

export const shell = (name: string, script: string, more: object = {}): object => ({
  name,
  image: busybox,
  command: ['/bin/sh', '-c', script],
  ...more,
})

/** Ends at once on SIGTERM. */
export const forever = 'trap "exit 0" TERM; while :; do sleep 0.1; done'

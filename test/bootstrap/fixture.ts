// The fixture of the tests of `keelson node`: a node below a temporary root with its files and listening sockets, and
// commands run the way the binary runs them.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach } from 'vitest'
import { parse } from 'yaml'
import { createNodeCommand } from '../../src/cli/node/command.js'
import { type Wire, wireNode } from '../../src/cli/node/wire.js'
import { descendants, run } from '../../src/cli/program.js'
import { createFakeCluster, type FakeCluster } from '../../src/fakes/cluster-objects.js'
import type { NodePorts } from '../../src/ports/bootstrap.js'

export const nodeName = 'node-1'
export const instancePath = '/var/lib/kubelet/instance-config.yaml'
export const configPath = '/var/lib/kubelet/config.yaml'
export const flagsPath = '/var/lib/kubelet/kubeadm-flags.env'
export const three = [instancePath, configPath, flagsPath] as const

export const containerd = 'unix:///var/run/containerd/containerd.sock'
export const crio = 'unix:///var/run/crio/crio.sock'
export const annotationKey = 'kubeadm.alpha.kubernetes.io/cri-socket'

export const kubeletDocument = (endpoint = ''): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\nclusterDomain: cluster.local\ncontainerRuntimeEndpoint: "${endpoint}"\n`

/** kubeadm-flags.env with these words in it. */
export const flagsFile = (words = ''): string => `KUBELET_KUBEADM_ARGS="${words}"\n`
/** The flag by which releases before the instance file name the socket. */
export const endpointFlag = (endpoint: string): string => `--container-runtime-endpoint=${endpoint}`

/** Most tests are not about preflight, and this machine is no node. */
export const ignorePreflight = ['--ignore-preflight-errors', 'all'] as const

export interface CommandResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface TestNode {
  readonly top: string
  readonly root: string
  put(path: string, text: string): Promise<void>
  read(path: string): Promise<string | undefined>
  /** The three files, absent ones as null. */
  files(): Promise<Record<string, string | null>>
  listen(endpoint: string): Promise<void>
  hangUp(): Promise<void>
  /** `keelson node ...` with --rootfs, through the binary's own entry: exit status and what was printed. */
  run(...args: string[]): Promise<CommandResult>
  close(): Promise<void>
}

/** Memory-backed where there is such a place: these tests write a lot and sync each time. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export const capture = () => {
  const out = { stdout: '', stderr: '' }
  const io = {
    stdout: { write: (text: string) => (out.stdout += text) },
    stderr: { write: (text: string) => (out.stderr += text) },
    stdin: Readable.from([]),
    env: {} as Record<string, string | undefined>,
    exitCode: 0,
  }
  return { out, io }
}

export async function createTestNode(): Promise<TestNode> {
  const top = await mkdtemp(join(parent, 'keelson-node-'))
  const root = join(top, 'r')
  await mkdir(join(root, 'etc'), { recursive: true })
  await writeFile(join(root, 'etc/hostname'), `${nodeName}\n`)
  const servers: Server[] = []
  const node: TestNode = {
    top,
    root,
    async put(path, text) {
      await mkdir(dirname(join(root, path)), { recursive: true, mode: 0o700 })
      await writeFile(join(root, path), text)
    },
    read: (path) => readFile(join(root, path), 'utf8').catch(() => undefined),
    async files() {
      const entries = await Promise.all(three.map(async (p) => [p, (await node.read(p)) ?? null] as const))
      return Object.fromEntries(entries)
    },
    async listen(endpoint) {
      const path = join(root, endpoint.replace(/^unix:\/\//, ''))
      await mkdir(dirname(path), { recursive: true })
      const server = createServer((socket) => socket.destroy())
      await new Promise<void>((done, failed) => {
        server.once('error', failed)
        server.listen(path, done)
      })
      servers.push(server)
    },
    async hangUp() {
      await Promise.all(servers.splice(0).map((s) => new Promise((done) => s.close(done))))
    },
    async run(...args) {
      const { out, io } = capture()
      const status = await run(['node', ...args, '--rootfs', root], io)
      return { status, ...out }
    },
    async close() {
      await node.hangUp()
      await rm(top, { recursive: true, force: true })
    },
  }
  return node
}

/** A node of its own for each test of a file; `arrange` is what all of them begin with. */
export function useTestNode(arrange: (node: TestNode) => Promise<void> = async () => {}): TestNode {
  let node: TestNode | undefined
  beforeEach(async () => {
    node = await createTestNode()
    await arrange(node)
  })
  afterEach(async () => {
    await node?.close()
    node = undefined
  })
  const now = (): TestNode => {
    if (node === undefined) throw new Error('there is a node only while a test runs')
    return node
  }
  return {
    get top() {
      return now().top
    },
    get root() {
      return now().root
    },
    put: (path, text) => now().put(path, text),
    read: (path) => now().read(path),
    files: () => now().files(),
    listen: (endpoint) => now().listen(endpoint),
    hangUp: () => now().hangUp(),
    run: (...args) => now().run(...args),
    close: () => now().close(),
  }
}

export interface WiredResult {
  readonly error: Error | undefined
  readonly report: Record<string, unknown>
}

/** The same command with some ports replaced: a cluster in memory, files that fail. */
export async function runWired(
  node: TestNode,
  change: (ports: NodePorts) => NodePorts,
  args: readonly string[],
): Promise<WiredResult> {
  const { out, io } = capture()
  const wire: Wire = async (place) => change(await wireNode(place))
  const command = createNodeCommand(io, wire)
  for (const c of [command, ...descendants(command)])
    c.exitOverride().configureOutput({ writeErr: () => undefined })
  try {
    await command.parseAsync([...args, '--rootfs', node.root, '-o', 'json'], { from: 'user' })
    return { error: undefined, report: JSON.parse(out.stdout) }
  } catch (e) {
    if (!(e instanceof Error)) throw e
    return { error: e, report: {} }
  }
}

export interface ClusterSetup {
  readonly annotation?: string
  readonly gate?: boolean
  readonly endpoint?: string
}

export function clusterWith({ annotation, gate, endpoint = '' }: ClusterSetup): FakeCluster {
  const cluster = createFakeCluster()
  cluster.nodes.set(nodeName, new Map(annotation === undefined ? [] : [[annotationKey, annotation]]))
  cluster.configMaps.set('kubelet-config', new Map([['kubelet', kubeletDocument(endpoint)]]))
  const gates = gate === undefined ? '' : `featureGates:\n  NodeLocalCRISocket: ${gate}\n`
  const document = `apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n${gates}`
  cluster.configMaps.set('kubeadm-config', new Map([['ClusterConfiguration', document]]))
  return cluster
}

export const clusterState = (c: FakeCluster): string =>
  JSON.stringify([...c.nodes, ...c.configMaps].map(([k, v]) => [k, [...v].sort()]))

/** What a kubelet that starts now would dial: the flag, else config.yaml, else its default. */
export function effectiveEndpoint(files: Readonly<Record<string, string | null>>): string {
  const flag = /--container-runtime-endpoint[= ]([^\s"]+)/.exec(files[flagsPath] ?? '')?.[1]
  if (flag !== undefined) return flag
  const config: unknown = parse(files[configPath] ?? '') ?? {}
  const named =
    typeof config === 'object' && config !== null && 'containerRuntimeEndpoint' in config
      ? config.containerRuntimeEndpoint
      : undefined
  return typeof named === 'string' && named !== '' ? named : 'unix:///run/containerd/containerd.sock'
}

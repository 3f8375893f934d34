// The node before the command: files below a temporary root, listening sockets, the cluster's objects.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { pipePathOf } from '../../../../src/adapters/node-root/runtime-sockets.js'
import { criSocketAnnotation } from '../../../../src/bootstrap/paths.js'
import { createFakeCluster, type FakeCluster } from '../../../../src/fakes/cluster-objects.js'
import { type Fields, isFields } from '../../types.js'

export const nodeName = 'node-1'

export interface Scene {
  readonly root: string
  /** Files that the command line names: config, kubelet configuration, patches. */
  readonly given: string
  readonly cluster: FakeCluster
  readonly filesBefore: Readonly<Record<string, string>>
  readonly kubelet: Fields
  /** Everything the cluster holds, to tell whether it changed. */
  clusterState(): string
  readonly clusterBefore: string
  close(): Promise<void>
}

const texts = (value: unknown): Record<string, string> =>
  isFields(value) ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, String(v)])) : {}

export async function arrange(input: Fields, base: Fields): Promise<Scene> {
  const top = await mkdtemp(join(tmpdir(), 'nls-'))
  const root = join(top, 'r')
  const given = join(top, 'g')
  await mkdir(join(root, 'etc'), { recursive: true })
  await mkdir(given)
  await writeFile(join(root, 'etc/hostname'), `${nodeName}\n`)
  const filesBefore = texts(input.files)
  for (const [path, text] of Object.entries(filesBefore)) await put(join(root, path), text)
  if (isFields(input.patches)) {
    await mkdir(join(given, 'patches'))
    for (const [name, text] of Object.entries(texts(input.patches)))
      await put(join(given, 'patches', name), text)
  }
  const kubelet = { ...base, ...(isFields(input.userKubeletConfig) ? input.userKubeletConfig : {}) }
  await writeFile(join(given, 'kubelet.yaml'), stringify(kubelet))
  const listening = Array.isArray(input.listening) ? input.listening.map(String) : []
  const servers = await listenAll(root, listening)
  const cluster = createFakeCluster()
  fillCluster(cluster, input, base)
  const clusterState = () =>
    JSON.stringify([...cluster.nodes, ...cluster.configMaps].map(([k, v]) => [k, [...v]]))
  return {
    root,
    given,
    cluster,
    filesBefore,
    kubelet,
    clusterState,
    clusterBefore: clusterState(),
    async close() {
      for (const server of servers) server.close()
      await rm(top, { recursive: true, force: true })
    },
  }
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, text)
}

/** This system has no named pipes: a socket beside the root stands in for one, and is dialled as the pipe would be. */
export const placeOfPipe = (root: string, pipe: string): string =>
  join(root, '../pipes', pipe.slice(pipe.lastIndexOf('\\') + 1))

async function listenAll(root: string, endpoints: readonly string[]): Promise<Server[]> {
  const servers: Server[] = []
  for (const endpoint of endpoints) {
    const pipe = pipePathOf(endpoint)
    const path = pipe === undefined ? join(root, endpoint.slice('unix://'.length)) : placeOfPipe(root, pipe)
    await mkdir(dirname(path), { recursive: true })
    // It takes connections and ends them: enough to be detected, not a runtime to talk to.
    const server = createServer((socket) => socket.destroy())
    await new Promise<void>((done, failed) => {
      server.once('error', failed)
      server.listen(path, done)
    })
    servers.push(server)
  }
  return servers
}

function fillCluster(cluster: FakeCluster, input: Fields, base: Fields): void {
  const annotations = new Map<string, string>()
  if (typeof input.annotation === 'string') annotations.set(criSocketAnnotation, input.annotation)
  cluster.nodes.set(nodeName, annotations)
  if (input.command === 'init') return
  const document = { ...base, ...(isFields(input.cluster) ? input.cluster : {}) }
  cluster.configMaps.set('kubelet-config', new Map([['kubelet', stringify(document)]]))
  const gate = typeof input.gate === 'boolean' ? { featureGates: { NodeLocalCRISocket: input.gate } } : {}
  const clusterConfiguration = { apiVersion: 'kubeadm.k8s.io/v1beta4', kind: 'ClusterConfiguration', ...gate }
  cluster.configMaps.set(
    'kubeadm-config',
    new Map([['ClusterConfiguration', stringify(clusterConfiguration)]]),
  )
}

// A control plane with one node in a node environment of private namespaces, and a port of this host's loopback that leads
// to its API server. Nothing of it stays, however the run ends.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { forNode } from '../../scripts/bundling.mjs'
import type { SuiteImages } from '../images/ensure-images.js'
import { insideDirectory, type RuntimeName } from '../node-environment/plan.js'
import {
  inCache,
  type KubeletName,
  runtimePeers,
  runtimePrograms,
  writeKubelet,
} from '../node-environment/programs.js'
import { type NodeEnvironment, startEnvironment } from '../node-environment/start.js'
import { cacheRoot } from '../peers/build.js'
import type { PeerName } from '../peers/catalogue.js'
import { controlPlanePeers } from './control-plane.js'
import { type Forwarder, forward } from './forward.js'
import { apiSocket, type ClusterPlan, hostKubeconfig } from './plan.js'

export const nodeName = 'node-1'

/** What every cluster is made of; kube-proxy and CoreDNS are built when they are asked for. */
export const clusterPeers: readonly PeerName[] = [
  ...controlPlanePeers,
  ...runtimePeers,
  'kubelet',
  'agnhost',
  'sample-device-plugin',
]

export interface ClusterRequest {
  readonly kubelet: KubeletName
  readonly runtime: RuntimeName
  readonly auditLog: boolean
  /** Of the host's loopback; 0: a free one. */
  readonly port: number
  /** Built peers, when they are part of the cluster. */
  readonly kubeProxy?: string
  readonly coreDns?: string
  readonly images: SuiteImages
  peer(name: PeerName): string
  /** Command that runs once the node is ready, with $KUBECONFIG; without it the cluster stays. Paths of the environment. */
  readonly argv: readonly string[]
  /** A file of TypeScript for the command, at `program.mjs` of the environment's directory. */
  readonly program?: string
  readonly onOutput: (text: string) => void
  /** Files to remove when this process is killed. */
  readonly leftovers: readonly string[]
}

export interface Cluster {
  /** Of an administrator, for programs on this host. */
  readonly kubeconfig: string
  /** What the programs write, with their logs below `cluster`; gone after close(). */
  readonly out: string
  /** Status of the command. */
  readonly ended: Promise<number>
  close(): Promise<void>
}

function planCluster(r: ClusterRequest, port: number): ClusterPlan {
  const path = (name: PeerName): string => inCache(r.peer(name))
  return {
    binaries: {
      etcd: path('etcd'),
      'kube-apiserver': path('kube-apiserver'),
      'kube-controller-manager': path('kube-controller-manager'),
      'kube-scheduler': path('kube-scheduler'),
    },
    nodeName,
    hostUrl: `https://127.0.0.1:${port}`,
    auditLog: r.auditLog,
    kubeProxy: r.kubeProxy === undefined ? undefined : inCache(r.kubeProxy),
    coreDns: r.coreDns === undefined ? undefined : inCache(r.coreDns),
    argv: r.argv,
  }
}

async function startInside(r: ClusterRequest, directory: string): Promise<NodeEnvironment> {
  const bundle = 'cluster.mjs'
  await build({
    ...forNode,
    entryPoints: [join(import.meta.dirname, 'inside.ts')],
    outfile: join(directory, bundle),
  })
  if (r.program !== undefined)
    await build({ ...forNode, entryPoints: [r.program], outfile: join(directory, 'program.mjs') })
  await writeKubelet(r.kubelet, { directory, peer: r.peer })
  return await startEnvironment({
    directory,
    cache: cacheRoot(),
    runtime: r.runtime,
    programs: runtimePrograms(r.runtime, r.peer),
    imageLayout: inCache(r.images.layout),
    imageArchive: inCache(r.images.archive),
    systemdStandIns: false,
    argv: [process.execPath, join(insideDirectory, bundle)],
    cwd: join(insideDirectory, 'out'),
    env: { HOME: '/root', TMPDIR: '/tmp' },
    onOutput: r.onOutput,
    leftovers: r.leftovers,
  })
}

export async function startCluster(request: ClusterRequest): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-cluster-'))
  const out = join(directory, 'out')
  await mkdir(out)
  let forwarder: Forwarder | undefined
  let environment: NodeEnvironment
  try {
    forwarder = await forward({ host: '127.0.0.1', port: request.port }, { path: join(directory, apiSocket) })
    await writeFile(join(directory, 'cluster.json'), JSON.stringify(planCluster(request, forwarder.port)))
    environment = await startInside(request, directory)
  } catch (e) {
    await forwarder?.close()
    await rm(directory, { recursive: true, force: true })
    throw e
  }
  return {
    kubeconfig: join(directory, hostKubeconfig),
    out,
    ended: environment.ended,
    async close() {
      await forwarder.close()
      await environment.close()
    },
  }
}

// etcd, kube-apiserver and kube-controller-manager for a test, built from their Go modules, and a node beside them whose runtime
// is scripted. Node authorizer and NodeRestriction are on.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../conformance/cluster/control-plane.js'
import { buildPeer } from '../../conformance/peers/build.js'
import type { KubeNode } from '../../src/core/kube/objects.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState } from '../../src/fakes/cri/node-state.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import { type FaultProxy, startFaultProxy } from './fault-proxy.js'
import { version } from './kubelet-fixture.js'

export interface RealControlPlane extends ControlPlane {
  readonly directory: string
  /** The way of the nodes to the API server. */
  readonly proxy: FaultProxy
  /** The same kubeconfig, by way of the proxy. */
  throughProxy(kubeconfig: string): Promise<string>
  node(name: string): Promise<KubeNode | undefined>
  /** Waits until the condition Ready of the node has this status. */
  becomes(name: string, status: string, timeoutMs?: number): Promise<void>
}

export async function startRealControlPlane(
  options: Partial<ControlPlaneOptions> = {},
): Promise<RealControlPlane> {
  const directory = await mkdtemp(join(tmpdir(), 'keelson-plane-'))
  const names = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const
  const built: [string, string][] = []
  for (const name of names) built.push([name, await buildPeer(name, console.log)])
  const binaries = Object.fromEntries(built) as Record<(typeof names)[number], string>
  const plane = await startControlPlane({ binaries, directory: join(directory, 'plane'), ...options })
  const proxy = await startFaultProxy({ host: '127.0.0.1', port: Number(new URL(plane.url).port) })
  const node = (name: string) => plane.client.getObject<KubeNode>(`/api/v1/nodes/${name}`)
  return {
    ...plane,
    directory,
    proxy,
    async throughProxy(kubeconfig) {
      const path = `${kubeconfig}.proxied`
      const text = await readFile(kubeconfig, 'utf8')
      await writeFile(path, text.replaceAll(plane.url, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 })
      return path
    },
    node,
    async becomes(name, status, timeoutMs = 60_000) {
      const ready = async () =>
        (await node(name))?.status?.conditions?.find((c) => c.type === 'Ready')?.status
      await expect.poll(ready, { timeout: timeoutMs, interval: 500 }).toBe(status)
    },
    async close() {
      await proxy.close()
      await plane.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** A healthy runtime with two handlers and two images, and no pod yet. */
export const runtimeScripts = {
  ...nodeAnswers(createNodeState()),
  RuntimeConfig: runtimeConfig.cgroupfs,
  Version: { value: { ...version.value, runtimeName: 'containerd', runtimeVersion: 'v2.1.4' } },
  Status: {
    value: {
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true },
          { type: 'NetworkReady', status: true },
        ],
      },
      runtimeHandlers: [
        { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
        { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
      ],
      features: { supplementalGroupsPolicy: true },
    },
  },
  ListImages: {
    value: {
      images: [
        { id: 'a', repoTags: ['small:1'], repoDigests: ['small@sha256:1'], size: 10n },
        { id: 'b', repoTags: ['large:1'], repoDigests: [], size: 20n },
      ],
    },
  },
}

export const memberFlags = (nodeName: string): string[] => [
  `--hostname-override=${nodeName}`,
  '--fail-cgroupv1=false',
  '--fail-swap-on=false',
  '--kubernetes-version=1.37.1',
  '--profile=upstream',
]

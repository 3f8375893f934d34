// The pod of a DaemonSet straight over CRI, with what a kubelet would make of it: mounts, security, namespaces, limits.
import { mkdirSync } from 'node:fs'
import type { ContainerConfig, DeepPartial, Mount, PodSandboxConfig } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { apiPort, serviceAccount } from './cluster-stand-in.js'

interface ContainerJson {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly resources?: { readonly limits?: { readonly memory?: string } }
  readonly securityContext: {
    readonly runAsUser: number
    readonly allowPrivilegeEscalation: boolean
    readonly readOnlyRootFilesystem: boolean
    readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] }
  }
  readonly volumeMounts?: readonly {
    readonly name: string
    readonly mountPath: string
    readonly readOnly?: boolean
    readonly mountPropagation?: string
  }[]
}

export interface PodJson {
  readonly hostPID?: boolean
  readonly containers: readonly ContainerJson[]
  readonly initContainers?: readonly ContainerJson[]
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[]
}

/** Of CRI's enums. */
const [hostToContainer, nodeNamespace, ownNamespace] = [1, 2, 1]

const mount = (
  hostPath: string,
  containerPath: string,
  readonly: boolean,
  propagation = 0,
): DeepPartial<Mount> => ({
  hostPath,
  containerPath,
  readonly,
  propagation,
})

function mountsOf(pod: PodJson, container: ContainerJson, configMap: string): DeepPartial<Mount>[] {
  return [
    ...(container.volumeMounts ?? []).map((m) => {
      const volume = pod.volumes.find((v) => v.name === m.name)
      if (volume === undefined) throw new Error(`no volume ${m.name}`)
      return mount(
        volume.hostPath?.path ?? configMap,
        m.mountPath,
        m.readOnly ?? false,
        m.mountPropagation === 'HostToContainer' ? hostToContainer : 0,
      )
    }),
    mount(serviceAccount, '/var/run/secrets/kubernetes.io/serviceaccount', true),
  ]
}

const mib = 1024n * 1024n

function configOf(pod: PodJson, c: ContainerJson, configMap: string): DeepPartial<ContainerConfig> {
  const { securityContext: security } = c
  const memory = /^(\d+)Mi$/.exec(c.resources?.limits?.memory ?? '')?.[1]
  return {
    metadata: { name: c.name, attempt: 0 },
    image: { image: c.image },
    command: [...(c.command ?? [])],
    args: [...(c.args ?? [])],
    envs: Object.entries({
      NODE_NAME: 'node-1',
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(apiPort),
    }).map(([key, value]) => ({ key, value: Buffer.from(value) })),
    mounts: mountsOf(pod, c, configMap),
    logPath: `${c.name}.log`,
    labels: { 'io.kubernetes.container.name': c.name },
    linux: {
      resources: memory === undefined ? {} : { memoryLimitInBytes: BigInt(memory) * mib },
      securityContext: {
        runAsUser: { value: BigInt(security.runAsUser) },
        noNewPrivs: !security.allowPrivilegeEscalation,
        readonlyRootfs: security.readOnlyRootFilesystem,
        capabilities: {
          dropCapabilities: [...security.capabilities.drop],
          addCapabilities: [...(security.capabilities.add ?? [])],
        },
        seccomp: { profileType: 0 },
        namespaceOptions: {
          network: nodeNamespace,
          pid: pod.hostPID === true ? nodeNamespace : ownNamespace,
        },
      },
    },
  }
}

export interface RunningManifest {
  /** Of the container that goes on. */
  readonly containerId: string
  readonly log: string
  remove(): Promise<void>
}

/** Init containers to their end, one after the other; then the others. */
export async function runManifest(
  client: CriClient,
  name: string,
  pod: PodJson,
  configMap: string,
  ended: (containerId: string) => Promise<number>,
): Promise<RunningManifest> {
  const log = `/tmp/manifest-logs/${name}`
  mkdirSync(log, { recursive: true })
  const sandboxConfig: DeepPartial<PodSandboxConfig> = {
    metadata: { name, uid: name, namespace: 'keelson', attempt: 0 },
    logDirectory: log,
    labels: {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'keelson',
      'io.kubernetes.pod.uid': name,
    },
    linux: {
      cgroupParent: '/system.slice',
      securityContext: {
        namespaceOptions: {
          network: nodeNamespace,
          pid: pod.hostPID === true ? nodeNamespace : ownNamespace,
        },
      },
    },
  }
  const { podSandboxId } = await client.runtime.runPodSandbox({ config: sandboxConfig })
  const start = async (c: ContainerJson): Promise<string> => {
    const config = configOf(pod, c, configMap)
    const { containerId } = await client.runtime.createContainer({ podSandboxId, sandboxConfig, config })
    await client.runtime.startContainer({ containerId })
    return containerId
  }
  for (const c of pod.initContainers ?? []) {
    const status = await ended(await start(c))
    if (status !== 0) throw new Error(`init container ${c.name} ended with ${status}; see ${log}`)
  }
  const ids: string[] = []
  for (const c of pod.containers) ids.push(await start(c))
  return {
    containerId: ids[0] ?? '',
    log: `${log}/${pod.containers[0]?.name}.log`,
    async remove() {
      await client.runtime.stopPodSandbox({ podSandboxId })
      await client.runtime.removePodSandbox({ podSandboxId })
    },
  }
}

// A pod over CRI for scenarios: sandbox plus one container from the lab's images, and what the kernel says about it.
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import type { DeepPartial, LinuxContainerResources, PodSandboxConfig } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'

export const MiB = 1024 * 1024

export const endpoint = (): string => {
  const value = process.env.CONTAINER_RUNTIME_ENDPOINT
  if (value === undefined) throw new Error('CONTAINER_RUNTIME_ENDPOINT is not set; ask for containerd')
  return value
}

export const connect = (timeoutMs = 60_000): CriClient => createCriClient(endpoint(), { timeoutMs })

export interface PodOptions {
  readonly name: string
  readonly cgroupParent: string
  readonly image?: string
  readonly command?: readonly string[]
  readonly resources?: DeepPartial<LinuxContainerResources>
}

export interface RunningPod {
  readonly sandboxId: string
  readonly containerId: string
  readonly config: DeepPartial<PodSandboxConfig>
}

export async function podSandboxConfig(options: PodOptions): Promise<DeepPartial<PodSandboxConfig>> {
  const logDirectory = `${process.env.LAB_OUT ?? '/tmp'}/pod-logs/${options.name}`
  await mkdir(logDirectory, { recursive: true })
  return {
    metadata: { name: options.name, uid: options.name, namespace: 'default', attempt: 0 },
    hostname: options.name,
    logDirectory,
    labels: { 'io.kubernetes.pod.name': options.name },
    linux: { cgroupParent: options.cgroupParent, securityContext: { namespaceOptions: { pid: 1 } } },
  }
}

export async function createContainer(
  client: CriClient,
  sandboxId: string,
  config: DeepPartial<PodSandboxConfig>,
  options: PodOptions,
): Promise<string> {
  const created = await client.runtime.createContainer({
    podSandboxId: sandboxId,
    sandboxConfig: config,
    config: {
      metadata: { name: 'main', attempt: 0 },
      image: { image: options.image ?? 'keelson.local/busybox:1' },
      command: [
        ...(options.command ?? ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done']),
      ],
      logPath: 'main.log',
      labels: { 'io.kubernetes.container.name': 'main' },
      linux: options.resources === undefined ? {} : { resources: options.resources },
    },
  })
  return created.containerId
}

export async function runPod(client: CriClient, options: PodOptions): Promise<RunningPod> {
  const config = await podSandboxConfig(options)
  const { podSandboxId: sandboxId } = await client.runtime.runPodSandbox({ config })
  const containerId = await createContainer(client, sandboxId, config, options)
  await client.runtime.startContainer({ containerId })
  return { sandboxId, containerId, config }
}

export async function removePod(client: CriClient, pod: Pick<RunningPod, 'sandboxId'>): Promise<void> {
  await client.runtime.stopPodSandbox({ podSandboxId: pod.sandboxId })
  await client.runtime.removePodSandbox({ podSandboxId: pod.sandboxId })
}

export async function pidOf(client: CriClient, containerId: string): Promise<number> {
  const status = await client.runtime.containerStatus({ containerId, verbose: true })
  const info = JSON.parse(status.info.info ?? '{}') as { readonly pid?: number }
  if (info.pid === undefined) throw new Error(`the runtime knows no process of ${containerId}`)
  return info.pid
}

/** The container's cgroup v2 path, as the kernel gives it. */
export function cgroupOf(pid: number): string {
  const line = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    .split('\n')
    .find((l) => l.startsWith('0::'))
  if (line === undefined) throw new Error(`process ${pid} is in no cgroup v2`)
  return line.slice(3)
}

// The memory of the stateful fake runtime: sandboxes, containers and images with the transitions a real one
// has, and the hands of a test on them (a container exits, a sandbox dies). It outlives restarts of the server.
import {
  type ContainerConfig,
  type ContainerEventResponse,
  ContainerEventType,
  ContainerState,
  ContainerStatus,
  Image,
  type LinuxContainerResources,
  type PodSandboxConfig,
  PodSandboxState,
  PodSandboxStatus,
} from '../../cri-api/api.js'
import { createEventHub, type EventHub } from './event-hub.js'

export interface FakeSandbox {
  readonly config: PodSandboxConfig
  readonly status: PodSandboxStatus
  /** Shown in the verbose status, as containerd does. */
  readonly pid: number
}
export interface FakeContainer {
  readonly sandboxId: string
  readonly config: ContainerConfig
  readonly status: ContainerStatus
  readonly pid: number
}
interface Exit {
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
}

interface NodeStateOptions {
  readonly nowNanos?: () => bigint
  /** Present from the start. */
  readonly images?: readonly string[]
}

export interface NodeState {
  readonly nowNanos: () => bigint
  readonly sandboxes: Map<string, FakeSandbox>
  readonly containers: Map<string, FakeContainer>
  readonly images: Map<string, Image>
  readonly events: EventHub<ContainerEventResponse>
  addImage(reference: string, size?: bigint): Image
  addSandbox(config: PodSandboxConfig, runtimeHandler: string): FakeSandbox
  addContainer(sandboxId: string, config: ContainerConfig): FakeContainer
  startContainer(container: FakeContainer): void
  exitContainer(id: string, exit: Exit): void
  removeContainer(id: string): void
  /** Its process dies: not ready, and its containers go with it. */
  stopSandbox(id: string): void
  removeSandbox(id: string): void
  updateResources(container: FakeContainer, linux: LinuxContainerResources): void
  containersOf(sandboxId: string): FakeContainer[]
}

export function createNodeState(options: NodeStateOptions = {}): NodeState {
  const nowNanos = options.nowNanos ?? (() => BigInt(Date.now()) * 1_000_000n)
  const sandboxes = new Map<string, FakeSandbox>()
  const containers = new Map<string, FakeContainer>()
  const images = new Map<string, Image>()
  const events = createEventHub<ContainerEventResponse>()
  let serial = 0
  const newId = (kind: 'a' | 'c' | 'f'): string => kind + (++serial).toString(16).padStart(63, '0')
  const containersOf = (sandboxId: string): FakeContainer[] =>
    [...containers.values()].filter((c) => c.sandboxId === sandboxId)

  function announce(container: FakeContainer, containerEventType: ContainerEventType): void {
    events.emit({
      containerId: container.status.id,
      containerEventType,
      createdAt: nowNanos(),
      podSandboxStatus: sandboxes.get(container.sandboxId)?.status,
      containersStatuses: containersOf(container.sandboxId).map((c) => c.status),
    })
  }

  const state: NodeState = {
    nowNanos,
    sandboxes,
    containers,
    images,
    events,
    containersOf,
    addImage(reference, size = 1_000_000n) {
      const id = `sha256:${newId('f')}`
      const image = Image.fromPartial({ id, repoTags: [reference], size, spec: { image: id } })
      images.set(reference, image)
      return image
    },
    addSandbox(config, runtimeHandler) {
      const id = newId('a')
      const status = PodSandboxStatus.fromPartial({
        id,
        metadata: config.metadata,
        state: PodSandboxState.SANDBOX_READY,
        createdAt: nowNanos(),
        network: { ip: `10.88.${(serial >> 8) & 255}.${serial & 255}` },
        linux: { namespaces: { options: config.linux?.securityContext?.namespaceOptions } },
        labels: config.labels,
        annotations: config.annotations,
        runtimeHandler,
      })
      const sandbox: FakeSandbox = { config, status, pid: 100_000 + serial }
      sandboxes.set(id, sandbox)
      return sandbox
    },
    addContainer(sandboxId, config) {
      const id = newId('c')
      const image = images.get(config.image?.image ?? '')
      const directory = sandboxes.get(sandboxId)?.config.logDirectory ?? ''
      const status = ContainerStatus.fromPartial({
        id,
        metadata: config.metadata,
        state: ContainerState.CONTAINER_CREATED,
        createdAt: nowNanos(),
        image: config.image,
        imageRef: image?.id ?? '',
        imageId: image?.id ?? '',
        labels: config.labels,
        annotations: config.annotations,
        mounts: config.mounts,
        logPath: directory === '' || config.logPath === '' ? '' : `${directory}/${config.logPath}`,
        resources: config.linux?.resources === undefined ? undefined : { linux: config.linux.resources },
      })
      const container: FakeContainer = { sandboxId, config, status, pid: 100_000 + serial }
      containers.set(id, container)
      announce(container, ContainerEventType.CONTAINER_CREATED_EVENT)
      return container
    },
    startContainer(container) {
      container.status.state = ContainerState.CONTAINER_RUNNING
      container.status.startedAt = nowNanos()
      announce(container, ContainerEventType.CONTAINER_STARTED_EVENT)
    },
    exitContainer(id, { exitCode, reason, message }) {
      const container = containers.get(id)
      if (container?.status.state !== ContainerState.CONTAINER_RUNNING) return
      Object.assign(container.status, {
        state: ContainerState.CONTAINER_EXITED,
        finishedAt: nowNanos(),
        exitCode,
        reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
        message: message ?? '',
      })
      announce(container, ContainerEventType.CONTAINER_STOPPED_EVENT)
    },
    removeContainer(id) {
      const container = containers.get(id)
      if (container === undefined) return
      state.exitContainer(id, { exitCode: 137 })
      containers.delete(id)
      announce(container, ContainerEventType.CONTAINER_DELETED_EVENT)
    },
    stopSandbox(id) {
      const sandbox = sandboxes.get(id)
      if (sandbox === undefined) return
      for (const c of containersOf(id)) state.exitContainer(c.status.id, { exitCode: 137 })
      sandbox.status.state = PodSandboxState.SANDBOX_NOTREADY
    },
    removeSandbox(id) {
      state.stopSandbox(id)
      for (const c of containersOf(id)) state.removeContainer(c.status.id)
      sandboxes.delete(id)
    },
    updateResources(container, linux) {
      const before = container.status.resources?.linux
      container.status.resources = { linux: before === undefined ? linux : mergeResources(before, linux) }
    },
  }
  for (const reference of options.images ?? []) state.addImage(reference)
  return state
}

/** Zero and empty mean "leave as it is" in an update; `unified` is merged key by key. */
function mergeResources(
  before: LinuxContainerResources,
  update: LinuxContainerResources,
): LinuxContainerResources {
  const given = Object.entries(update).filter(
    ([, v]) => v !== 0n && v !== '' && !(typeof v === 'object' && Object.keys(v).length === 0),
  )
  return { ...before, ...Object.fromEntries(given), unified: { ...before.unified, ...update.unified } }
}

// The stateful fake runtime's answers: what is created is listed, with its state, until it is removed.
// Each is an ordinary script entry, so a test can put failures in front: [{ code: 'UNKNOWN' }, answers.StartContainer].
import {
  type ContainerFilter,
  ContainerState,
  type ImageSpec,
  type PodSandboxFilter,
} from '../../cri-api/api.js'
import type { AnswerOf, Said } from './answers.js'
import type { FakeContainer, FakeSandbox, NodeState } from './node-state.js'

const notFound = (what: string, id: string): Said<never> => ({
  code: 'NOT_FOUND',
  message: `${what} "${id}": not found`,
})

const hasLabels = (
  wanted: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([k, v]) => labels[k] === v)

const sandboxMatches = ({ status }: FakeSandbox, filter: PodSandboxFilter | undefined): boolean =>
  filter === undefined ||
  (status.id.startsWith(filter.id) &&
    (filter.state === undefined || filter.state.state === status.state) &&
    hasLabels(filter.labelSelector, status.labels))

const containerMatches = (c: FakeContainer, filter: ContainerFilter | undefined): boolean =>
  filter === undefined ||
  (c.status.id.startsWith(filter.id) &&
    c.sandboxId.startsWith(filter.podSandboxId) &&
    (filter.state === undefined || filter.state.state === c.status.state) &&
    hasLabels(filter.labelSelector, c.status.labels))

const nameOf = ({ config }: Pick<FakeContainer, 'config'>): string =>
  `${config.metadata?.name ?? ''}#${config.metadata?.attempt ?? 0}`

interface NodeAnswers {
  readonly Version: AnswerOf<'Version'>
  readonly Status: AnswerOf<'Status'>
  readonly RunPodSandbox: AnswerOf<'RunPodSandbox'>
  readonly StopPodSandbox: AnswerOf<'StopPodSandbox'>
  readonly RemovePodSandbox: AnswerOf<'RemovePodSandbox'>
  readonly PodSandboxStatus: AnswerOf<'PodSandboxStatus'>
  readonly ListPodSandbox: AnswerOf<'ListPodSandbox'>
  readonly CreateContainer: AnswerOf<'CreateContainer'>
  readonly StartContainer: AnswerOf<'StartContainer'>
  readonly StopContainer: AnswerOf<'StopContainer'>
  readonly RemoveContainer: AnswerOf<'RemoveContainer'>
  readonly ListContainers: AnswerOf<'ListContainers'>
  readonly ContainerStatus: AnswerOf<'ContainerStatus'>
  readonly UpdateContainerResources: AnswerOf<'UpdateContainerResources'>
  readonly ReopenContainerLog: AnswerOf<'ReopenContainerLog'>
  readonly ExecSync: AnswerOf<'ExecSync'>
  readonly GetContainerEvents: AnswerOf<'GetContainerEvents'>
  readonly ListImages: AnswerOf<'ListImages'>
  readonly ImageStatus: AnswerOf<'ImageStatus'>
  readonly PullImage: AnswerOf<'PullImage'>
  readonly RemoveImage: AnswerOf<'RemoveImage'>
}

export function nodeAnswers(node: NodeState): NodeAnswers {
  const container = (id: string): FakeContainer | undefined => node.containers.get(id)
  const findImage = (spec: ImageSpec | undefined) => {
    const wanted = spec?.image ?? ''
    return node.images.get(wanted) ?? [...node.images.values()].find((i) => i.id === wanted)
  }

  return {
    Version: {
      value: { version: '0.1.0', runtimeName: 'fake', runtimeVersion: 'v0.0.0', runtimeApiVersion: 'v1' },
    },
    Status: {
      value: {
        status: {
          conditions: [
            { type: 'RuntimeReady', status: true },
            { type: 'NetworkReady', status: true },
          ],
        },
      },
    },
    RunPodSandbox: ({ config, runtimeHandler }) =>
      config?.metadata === undefined
        ? { code: 'INVALID_ARGUMENT', message: 'sandbox config must include metadata' }
        : { value: { podSandboxId: node.addSandbox(config, runtimeHandler).status.id } },
    StopPodSandbox: ({ podSandboxId }) => {
      node.stopSandbox(podSandboxId)
      return { value: {} }
    },
    RemovePodSandbox: ({ podSandboxId }) => {
      node.removeSandbox(podSandboxId)
      return { value: {} }
    },
    PodSandboxStatus: ({ podSandboxId, verbose }) => {
      const sandbox = node.sandboxes.get(podSandboxId)
      if (sandbox === undefined) return notFound('sandbox', podSandboxId)
      const info = verbose ? { info: JSON.stringify({ pid: sandbox.pid }) } : {}
      return { value: { status: sandbox.status, info } }
    },
    ListPodSandbox: ({ filter }) => ({
      value: {
        items: [...node.sandboxes.values()].filter((s) => sandboxMatches(s, filter)).map((s) => s.status),
      },
    }),
    CreateContainer: ({ podSandboxId, config }) => {
      if (!node.sandboxes.has(podSandboxId)) return notFound('sandbox', podSandboxId)
      if (config?.metadata === undefined)
        return { code: 'INVALID_ARGUMENT', message: 'container config must include metadata' }
      if (findImage(config.image) === undefined) return notFound('image', config.image?.image ?? '')
      const holder = node.containersOf(podSandboxId).find((c) => nameOf(c) === nameOf({ config }))
      if (holder !== undefined)
        return { code: 'UNKNOWN', message: `name ${nameOf(holder)} is reserved for "${holder.status.id}"` }
      return { value: { containerId: node.addContainer(podSandboxId, config).status.id } }
    },
    StartContainer: ({ containerId }) => {
      const c = container(containerId)
      if (c === undefined) return notFound('container', containerId)
      if (c.status.state !== ContainerState.CONTAINER_CREATED)
        return { code: 'UNKNOWN', message: `container is in ${ContainerState[c.status.state]} state` }
      node.startContainer(c)
      return { value: {} }
    },
    StopContainer: ({ containerId, timeout }) => {
      node.exitContainer(containerId, { exitCode: timeout === 0n ? 137 : 143 })
      return { value: {} }
    },
    RemoveContainer: ({ containerId }) => {
      node.removeContainer(containerId)
      return { value: {} }
    },
    ListContainers: ({ filter }) => ({
      value: {
        containers: [...node.containers.values()]
          .filter((c) => containerMatches(c, filter))
          .map((c) => ({ ...c.status, podSandboxId: c.sandboxId })),
      },
    }),
    ContainerStatus: ({ containerId, verbose }) => {
      const c = container(containerId)
      if (c === undefined) return notFound('container', containerId)
      const info = verbose ? { info: JSON.stringify({ sandboxID: c.sandboxId, pid: c.pid }) } : {}
      return { value: { status: c.status, info } }
    },
    UpdateContainerResources: ({ containerId, linux }) => {
      const c = container(containerId)
      if (c === undefined) return notFound('container', containerId)
      if (linux !== undefined) node.updateResources(c, linux)
      return { value: {} }
    },
    ReopenContainerLog: ({ containerId }) =>
      container(containerId) === undefined ? notFound('container', containerId) : { value: {} },
    ExecSync: ({ containerId, cmd }) => {
      const c = container(containerId)
      if (c === undefined) return notFound('container', containerId)
      if (c.status.state !== ContainerState.CONTAINER_RUNNING)
        return { code: 'UNKNOWN', message: `container is in ${ContainerState[c.status.state]} state` }
      return { value: { stdout: Buffer.from(`${cmd.join(' ')}\n`), exitCode: 0 } }
    },
    GetContainerEvents: (_request, { signal }) => ({ values: node.events.subscribe(signal) }),
    ListImages: ({ filter }) => {
      const wanted = filter?.image
      const one = wanted === undefined || wanted.image === '' ? undefined : findImage(wanted)
      if (wanted !== undefined && wanted.image !== '') return { value: { images: one ? [one] : [] } }
      return { value: { images: [...node.images.values()] } }
    },
    ImageStatus: ({ image }) => {
      const found = findImage(image)
      return { value: found === undefined ? {} : { image: found } }
    },
    PullImage: ({ image }) => ({
      value: { imageRef: (findImage(image) ?? node.addImage(image?.image ?? '')).id },
    }),
    RemoveImage: ({ image }) => {
      const found = findImage(image)
      for (const [reference, i] of node.images) if (i === found) node.images.delete(reference)
      return { value: {} }
    },
  }
}

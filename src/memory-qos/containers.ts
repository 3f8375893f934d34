// Running containers by pod, from the labels that a kubelet puts on everything it creates.
import type { PodName } from '../core/pod/origin.js'
import { type Container, ContainerState } from '../cri-api/api.js'
import type { RuntimeService } from '../ports/runtime.js'

interface RunningContainer {
  readonly id: string
  readonly name: string
  readonly podUid: string
  readonly pod: PodName
}

export type RunningByPod = ReadonlyMap<string, readonly RunningContainer[]>

const podUidLabel = 'io.kubernetes.pod.uid'
const podNameLabel = 'io.kubernetes.pod.name'
const podNamespaceLabel = 'io.kubernetes.pod.namespace'
const containerNameLabel = 'io.kubernetes.container.name'

const podOf = (labels: Readonly<Record<string, string>>): PodName => ({
  namespace: labels[podNamespaceLabel] ?? '',
  name: labels[podNameLabel] ?? '',
})

/** Of two running instances of one name, as during a restart, the newer one counts. */
function runningByPod(containers: readonly Container[]): RunningByPod {
  const pods = new Map<string, Map<string, Container>>()
  for (const container of containers) {
    const uid = container.labels[podUidLabel]
    const name = container.labels[containerNameLabel]
    if (uid === undefined || name === undefined) continue
    if (container.state !== ContainerState.CONTAINER_RUNNING) continue
    const byName = pods.get(uid) ?? new Map<string, Container>()
    const other = byName.get(name)
    if (other === undefined || other.createdAt < container.createdAt) byName.set(name, container)
    pods.set(uid, byName)
  }
  return new Map(
    [...pods].map(([podUid, byName]) => [
      podUid,
      [...byName].map(([name, { id, labels }]) => ({ id, name, podUid, pod: podOf(labels) })),
    ]),
  )
}

export async function listRunning(
  runtime: Pick<RuntimeService, 'listContainers'>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<RunningByPod> {
  const filter = { state: { state: ContainerState.CONTAINER_RUNNING } }
  const { containers } = await runtime.listContainers({ filter }, { signal, timeoutMs })
  return runningByPod(containers)
}

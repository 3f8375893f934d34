// Pods for the scrape benchmark: real cgroups with two containers each, every one with a sleeping process, and what a
// runtime would list of them.

import type { Hierarchy } from '../../src/adapters/cgroups/hierarchy.js'
import type { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { Container, ContainerState, PodSandbox } from '../../src/cri-api/api.js'
import type { LineProcess } from '../cgroup-sweep/floor.js'

export interface BenchPod {
  readonly index: number
  readonly uid: string
  readonly sandboxId: string
  readonly containerIds: readonly string[]
}

const hexId = (prefix: string, n: number): string => prefix + n.toString(16).padStart(64 - prefix.length, '0')

export const benchPods = (count: number): BenchPod[] =>
  Array.from({ length: count }, (_, index) => ({
    index,
    uid: `bench-${index}`,
    sandboxId: hexId('a', index),
    containerIds: [hexId('c', 2 * index), hexId('c', 2 * index + 1)],
  }))

export const podPath = (base: string, pod: BenchPod): string => `${base}/pod${pod.uid}`

export async function makeCgroups(
  {
    tree,
    hierarchy,
    holder,
    base,
  }: { tree: CgroupFsTree; hierarchy: Hierarchy; holder: LineProcess; base: string },
  pods: readonly BenchPod[],
  signal: AbortSignal,
): Promise<void> {
  const lines: string[] = []
  for (const pod of pods)
    for (const id of [pod.sandboxId, ...pod.containerIds]) {
      const path = `${podPath(base, pod)}/${id}`
      await tree.ensure(path, { signal })
      lines.push(hierarchy.roots.map((root) => `${root}${path}/cgroup.procs`).join(' '))
    }
  holder.send(`${lines.join('\n')}\n\n`)
  await holder.next()
}

/** What a runtime lists of them, with the labels that a kubelet gives. */
export function listed(pods: readonly BenchPod[]): { items: PodSandbox[]; containers: Container[] } {
  const labels = ({ index, uid }: BenchPod) => ({
    'io.kubernetes.pod.name': `pod-${index}`,
    'io.kubernetes.pod.namespace': 'bench',
    'io.kubernetes.pod.uid': uid,
  })
  const items = pods.map((pod) =>
    PodSandbox.fromPartial({
      id: pod.sandboxId,
      metadata: { name: `pod-${pod.index}`, namespace: 'bench', uid: pod.uid },
      createdAt: 1n,
      labels: labels(pod),
    }),
  )
  const containers = pods.flatMap((pod) =>
    pod.containerIds.map((id, i) =>
      Container.fromPartial({
        id,
        podSandboxId: pod.sandboxId,
        metadata: { name: `container-${i}` },
        image: { image: 'registry.example/team/application:1.2.3' },
        state: ContainerState.CONTAINER_RUNNING,
        createdAt: 1n,
        labels: { ...labels(pod), 'io.kubernetes.container.name': `container-${i}` },
      }),
    ),
  )
  return { items, containers }
}

// A node for the scrape benchmark: real cgroups of pods with two containers each, every one with a sleeping process, and
// a runtime that only lists them.

import type { Hierarchy } from '../../src/adapters/cgroups/hierarchy.js'
import type { CgroupFsTree } from '../../src/adapters/cgroups/tree.js'
import { fail } from '../../src/core/errors.js'
import { Container, ContainerState, PodSandbox } from '../../src/cri-api/api.js'
import type { CriClient } from '../../src/ports/runtime.js'
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

/** Lists; every other call is unknown to it. */
export function listingRuntime(pods: readonly BenchPod[]): CriClient {
  const items = pods.map((pod) =>
    PodSandbox.fromPartial({
      id: pod.sandboxId,
      metadata: { name: `pod-${pod.index}`, namespace: 'bench', uid: pod.uid },
      createdAt: 1n,
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
      }),
    ),
  )
  const answers: Readonly<Record<string, unknown>> = {
    listPodSandbox: { items },
    listContainers: { containers },
    status: { info: {} },
  }
  const service = new Proxy(
    {},
    {
      get: (_target, name: string) => async () => {
        if (name in answers) return answers[name]
        throw fail('runtime.unimplemented', `call ${name}`)
      },
    },
  )
  return {
    endpoint: 'bench',
    socketPath: 'bench',
    state: 'ready',
    onState: () => () => {},
    close() {},
    runtime: service,
    image: service,
  } as unknown as CriClient
}

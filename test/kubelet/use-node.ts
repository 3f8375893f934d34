// One node for all scenarios of a file, made before the first and taken away after the last; skips by name where the
// machine lacks something.
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { missingRequirement, requires } from '../support/requirements.js'
import { type NodeOptions, PodNode, until } from './node.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const

export function useNode(options: NodeOptions = {}): () => PodNode {
  let node: PodNode | undefined
  beforeAll(async () => {
    if (missingRequirement(needs) !== undefined) return
    node = await PodNode.create(options)
    await node.start()
  }, 120_000)
  afterAll(async () => {
    await node?.close()
  }, 240_000)
  beforeEach((ctx) => requires(ctx, needs))
  return () => {
    if (node === undefined) throw new Error('there is no node')
    return node
  }
}

/** Removes the manifests and waits until nothing of the pods is left, in the runtime or on disk. */
export async function endPods(node: PodNode, ...names: readonly string[]): Promise<void> {
  for (const name of names) await node.removeManifest(`${name}.yaml`)
  await until(
    'the pods have gone',
    async () => {
      for (const name of names) if ((await node.sandboxes(name)).length > 0) return false
      return (await node.pods()).every((pod) => !names.includes(pod.metadata.name.replace(/-node-1$/, '')))
    },
    60_000,
  )
}

export const running = (node: PodNode, name: string): Promise<unknown> =>
  until(`${name} runs`, async () => {
    const pod = await node.podNamed(name)
    return pod?.status.conditions.some((c) => c.type === 'Ready' && c.status === 'True')
  })

/** The state of one container becomes what the function wants. */
export const stateOf = async (node: PodNode, name: string, container: string) => {
  const status = (await node.podNamed(name))?.status
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(
    (c) => c.name === container,
  )
}

// A node of a real control plane whose runtime is a real containerd, which is killed: NotReady with the reason, its pod goes on,
// and Ready again with the same container when it is back.
import { existsSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { KubeNode } from '../../src/core/kube/objects.js'
import { forever, PodNode, shell, until } from '../kubelet/node.js'
import { type RealControlPlane, startRealControlPlane } from '../support/real-control-plane.js'
import { missingRequirement, requires } from '../support/requirements.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const
const name = 'node-1'

let plane: RealControlPlane | undefined
let node: PodNode | undefined
beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  plane = await startRealControlPlane()
  node = await PodNode.create()
})
afterAll(async () => {
  await node?.close()
  await plane?.close()
})
beforeEach((ctx) => requires(ctx, needs))

test('containerd is killed and started again under a member of a cluster', { timeout: 300_000 }, async () => {
  if (plane === undefined || node === undefined) throw new Error('there is no node')
  const { client } = plane
  const ready = async () =>
    (await client.getObject<KubeNode>(`/api/v1/nodes/${name}`))?.status?.conditions?.find(
      (c) => c.type === 'Ready',
    )
  await node.pod('app', { containers: [shell('app', forever)] })
  await node.start([
    `--kubeconfig=${await plane.issueNodeKubeconfig(name)}`,
    '--node-status-update-frequency=2s',
  ])
  await plane.becomes(name, 'True')
  const [before] = await until('the pod runs', async () => {
    const found = await node?.containers('app')
    return found?.[0]?.state === 1 ? found : undefined
  })
  const status = await node.cri.runtime.containerStatus({ containerId: before?.id ?? '', verbose: true })
  const { pid } = JSON.parse(status.info['info'] ?? '{}') as { pid: number }

  await node.containerd.kill('SIGKILL')
  await plane.becomes(name, 'False')
  expect(await ready()).toMatchObject({ reason: 'KubeletNotReady', message: 'container runtime is down' })
  expect(existsSync(`/proc/${pid}`)).toBe(true)

  await node.containerd.start()
  await plane.becomes(name, 'True')
  const after = await node.containers('app')
  expect(after.map(({ id, state }) => ({ id, state }))).toEqual([{ id: before?.id, state: 1 }])
})

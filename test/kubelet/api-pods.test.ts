// Pods of an API server on a node whose runtime and API server are in memory, on a virtual clock: from binding to the final
// delete, across restarts of the kubelet, beside static pods with their mirrors.
import { afterEach, describe, expect, test } from 'vitest'
import type { KubePod } from '../../src/core/kube/objects.js'
import { FakeKubeApi } from '../../src/fakes/kube-api.js'
import { image, VirtualNode } from './virtual-node.js'

const nodes: VirtualNode[] = []
const start = async (): Promise<VirtualNode> => {
  const node = await VirtualNode.start({ kubeconfig: true })
  nodes.push(node)
  return node
}
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

const pods = '/api/v1/namespaces/shop/pods'
const bound = (name: string, spec: object = {}): KubePod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', uid: `${name}-uid`, generation: 1 },
  spec: { nodeName: 'node-1', containers: [{ name: 'app', image }], ...spec },
  status: { phase: 'Pending' },
})
const shown = (node: VirtualNode, name: string, path = pods): KubePod | undefined =>
  node.fixture.kubeApi.objects.get(`${path}/${name}`)
const phaseOf = (node: VirtualNode, name: string): unknown => shown(node, name)?.status?.phase
const writes = (node: VirtualNode) =>
  node.fixture.kubeApi.calls.filter(
    ({ verb, path }) => (verb === 'patch' || verb === 'remove') && path.startsWith(pods),
  )
const running = (node: VirtualNode): number =>
  [...node.state.containers.values()].filter(({ status }) => status.state === 1).length

async function run(node: VirtualNode, name: string, spec: object = {}): Promise<void> {
  await node.fixture.kubeApi.create(pods, bound(name, spec))
  await node.until('the pod runs', () => phaseOf(node, name) === 'Running')
  await node.calm()
}

async function markDeleted(node: VirtualNode, name: string, seconds: number): Promise<void> {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: seconds }
  await node.fixture.kubeApi.patch(`${pods}/${name}`, 'merge', { metadata })
}

describe('a pod of the API server', () => {
  test('runs, and its status is sent once for each change', async () => {
    const node = await start()
    await run(node, 'web')
    expect(shown(node, 'web')?.status).toMatchObject({
      observedGeneration: 1,
      hostIP: '192.0.2.1',
      qosClass: 'BestEffort',
      containerStatuses: [{ name: 'app', ready: true, started: true, restartCount: 0 }],
    })
    for (const { body } of writes(node)) expect(body).toMatchObject({ metadata: { uid: 'web-uid' } })
    const before = writes(node).length
    await node.pass(60)
    expect(writes(node).length).toBe(before)
  })

  test('deleted: ends, reports how, and only then is removed', async () => {
    const node = await start()
    await run(node, 'web')
    await markDeleted(node, 'web', 3)
    await node.until('the object is removed', () => shown(node, 'web') === undefined)
    const [end, removal] = writes(node).slice(-2)
    expect(end).toMatchObject({
      verb: 'patch',
      body: { status: { phase: expect.stringMatching(/Failed|Succeeded/) } },
    })
    expect(removal).toMatchObject({ verb: 'remove', path: `${pods}/web` })
    await node.until('nothing is left in the runtime', () => node.state.sandboxes.size === 0)
  })

  test('deleted by force: ends, and nothing of it is left', async () => {
    const node = await start()
    await run(node, 'web')
    await node.fixture.kubeApi.remove(`${pods}/web`)
    await node.until('nothing is left in the runtime', () => node.state.sandboxes.size === 0)
  })

  test('deleted while the kubelet was away: ends after its start', async () => {
    const node = await start()
    await run(node, 'web')
    await run(node, 'forced')
    await node.restart(async () => {
      await markDeleted(node, 'web', 3)
      await node.fixture.kubeApi.remove(`${pods}/forced`)
    })
    await node.until('the object is removed', () => shown(node, 'web') === undefined)
    await node.until('nothing is left in the runtime', () => node.state.sandboxes.size === 0)
  })

  test('goes on when the kubelet is restarted, and nothing new is reported', async () => {
    const node = await start()
    await run(node, 'web')
    const ids = [...node.state.containers.keys()]
    const before = shown(node, 'web')?.status
    await node.restart()
    await node.pass(30)
    expect([...node.state.containers.keys()]).toEqual(ids)
    expect(running(node)).toBe(1)
    expect(shown(node, 'web')?.status).toEqual(before)
  })

  test('over before: is not started again after a restart, though the runtime has forgotten it', async () => {
    const node = await start()
    await run(node, 'job', { restartPolicy: 'Never' })
    for (const { status } of node.state.containers.values())
      node.state.exitContainer(status.id, { exitCode: 0 })
    await node.pass(2)
    await node.until('it has succeeded', () => phaseOf(node, 'job') === 'Succeeded')
    const before = shown(node, 'job')?.status
    await node.restart(() => {
      node.state.containers.clear()
      node.state.sandboxes.clear()
    })
    await node.pass(30)
    expect(node.state.sandboxes.size).toBe(0)
    const { phase, startTime, containerStatuses, podIP } = { ...before }
    expect(shown(node, 'job')?.status).toMatchObject({ phase, startTime, containerStatuses, podIP })
  })

  test('with a field that is not carried out: rejected by name, and removed when it is deleted', async () => {
    const node = await start()
    await node.fixture.kubeApi.create(pods, bound('odd', { hostUsers: false }))
    await node.until('it is rejected', () => phaseOf(node, 'odd') === 'Failed')
    expect(shown(node, 'odd')?.status).toMatchObject({
      reason: 'PodFeatureUnsupported',
      message: expect.stringMatching(/^Pod was rejected: spec\.hostUsers /),
    })
    expect(node.state.sandboxes.size).toBe(0)
    await markDeleted(node, 'odd', 0)
    await node.until('the object is removed', () => shown(node, 'odd') === undefined)
  })

  test('its status is sent again when the API server was unreachable', async () => {
    const node = await start()
    const { kubeApi } = node.fixture
    kubeApi.fault = ({ verb, path }) =>
      verb === 'patch' && path.startsWith(pods) ? FakeKubeApi.refusal(503) : undefined
    await kubeApi.create(pods, bound('web'))
    await node.until('the container runs', () => running(node) === 1)
    expect(phaseOf(node, 'web')).toBe('Pending')
    kubeApi.fault = undefined
    await node.pass(2)
    await node.until('the status arrives', () => phaseOf(node, 'web') === 'Running')
  })
})

describe('a static pod of a node in a cluster', () => {
  const path = '/api/v1/namespaces/default/pods'
  const mirrorOf = (node: VirtualNode, name: string) => shown(node, `${name}-node-1`, path)

  test('has a mirror with its status; deleting the mirror does not end it', async () => {
    const node = await start()
    await node.pod('files', { containers: [{ name: 'app', image }] })
    await node.pass(5)
    await node.until(
      'the mirror shows that it runs',
      () => mirrorOf(node, 'files')?.status?.phase === 'Running',
    )
    const mirror = mirrorOf(node, 'files')
    const { 'kubernetes.io/config.mirror': mirrored, 'kubernetes.io/config.hash': hash } =
      mirror?.metadata?.annotations ?? {}
    expect(mirrored).toBe(hash)
    expect(mirror?.metadata?.ownerReferences).toMatchObject([
      { kind: 'Node', name: 'node-1', controller: true },
    ])
    const ids = [...node.state.containers.keys()]
    await node.fixture.kubeApi.remove(`${path}/files-node-1`)
    await node.until('there is another mirror', () => {
      const now = mirrorOf(node, 'files')
      return now !== undefined && now.metadata?.uid !== mirror?.metadata?.uid
    })
    expect([...node.state.containers.keys()]).toEqual(ids)
  })

  test('its mirror goes when the pod has ended', async () => {
    const node = await start()
    await node.pod('files', { containers: [{ name: 'app', image }] })
    await node.pass(5)
    await node.until(
      'the mirror shows that it runs',
      () => mirrorOf(node, 'files')?.status?.phase === 'Running',
    )
    await node.removeManifest('files')
    await node.pass(25)
    await node.until('the mirror is gone', () => mirrorOf(node, 'files') === undefined)
    expect(running(node)).toBe(0)
  })
})

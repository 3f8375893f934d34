// Pods of other kubelets on the same runtime, on a virtual clock: they are neither ended nor restarted nor cleaned up after,
// and pods that version 0.1.0 of this kubelet left are.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { PodSandboxConfig } from '../../src/cri-api/api.js'
import { image, VirtualNode } from './virtual-node.js'

const nodes: VirtualNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})
const start = async (): Promise<VirtualNode> => {
  const node = await VirtualNode.start()
  nodes.push(node)
  return node
}

const uid = '0123456789abcdef0123456789abcdef'
const app = { containers: [{ name: 'app', image }] }

interface Foreign {
  readonly name: string
  readonly uid?: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** As a kubelet would make it, in the runtime only. */
function runForeign(node: VirtualNode, { name, uid: own = uid, annotations = {} }: Foreign): string {
  const labels = {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': own,
  }
  const config = {
    metadata: { name, namespace: 'default', uid: own, attempt: 0 },
    labels,
    annotations: {
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': own,
      ...annotations,
    },
  }
  return node.state.addSandbox(PodSandboxConfig.fromPartial(config), '').status.id
}

const isReady = (node: VirtualNode, id: string): boolean => node.state.sandboxes.get(id)?.status.state === 0
const manifestOf = (node: VirtualNode, name: string): string =>
  join(node.fixture.directory, 'manifests', name)
const marks = (rootDir: string, manifest: string, nodeName = 'node-2') => ({
  'keelson.dev/root-dir': rootDir,
  'keelson.dev/node': nodeName,
  'keelson.dev/manifest': manifest,
})

test('static pods of an upstream kubelet, etcd of a control plane, are not ended', async () => {
  const node = await start()
  const etcd = runForeign(node, { name: 'etcd-node-1' })
  await node.pod('web', app)
  await node.until('ours runs', () => node.podNamed('web')?.status.phase === 'Running')
  await node.pass(130)
  expect(isReady(node, etcd)).toBe(true)
  expect(node.fixture.runtime.callsOf('StopPodSandbox')).toEqual([])
  const said = node.fixture.log.lines.filter((l) =>
    l.message.includes('ignoring a pod that this kubelet did not start'),
  )
  expect(said.map((l) => l.fields['pod'])).toEqual(['default/etcd-node-1'])
})

test('pods of a second keelson kubelet with a root directory of its own are not ended', async () => {
  const node = await start()
  const manifest = manifestOf(node, 'theirs.yaml')
  const theirs = runForeign(node, {
    name: 'theirs-node-1',
    annotations: marks('/var/lib/second', manifest, 'node-1'),
  })
  await node.pass(130)
  expect(isReady(node, theirs)).toBe(true)
})

test('a pod of 0.1.0 whose manifest went while the kubelet was away is ended', async () => {
  const node = await start()
  const old = runForeign(node, {
    name: 'old-node-1',
    annotations: { 'keelson.dev/manifest': manifestOf(node, 'old.yaml') },
  })
  await node.pass(5)
  await node.until('it is ended', () => !node.state.sandboxes.has(old))
})

test('pods that 0.1.0 started are taken over, and no container is restarted', async () => {
  const node = await start()
  await node.pod('web', app)
  await node.until('it runs', () => node.podNamed('web')?.status.phase === 'Running')
  const [sandbox] = [...node.state.sandboxes.values()]
  const before = [...node.state.containers.keys()]
  for (const mark of ['keelson.dev/root-dir', 'keelson.dev/node']) delete sandbox?.status.annotations[mark]
  await node.restart()
  await node.until('it is taken over', () => node.podNamed('web')?.status.phase === 'Running')
  await node.pass(70)
  expect([...node.state.containers.keys()]).toEqual(before)
  await node.removeManifest('web')
  await node.until('it ends', () => node.state.sandboxes.size === 0)
})

test('a pod of the same name that another kubelet runs: ours waits, says why, and starts when that one has gone', async () => {
  const node = await start()
  const etcd = runForeign(node, { name: 'etcd-node-1' })
  await node.pass(3)
  await node.pod('etcd', app)
  await node.until('it is wanted', () => node.podNamed('etcd'))
  await node.pass(90)
  expect(node.state.sandboxes.size).toBe(1)
  expect(JSON.stringify(node.podNamed('etcd')?.status)).toContain('another pod of this name')
  const said = node.fixture.log.lines.filter((l) => l.message.includes('pod not started'))
  expect(said).toHaveLength(1)
  node.state.sandboxes.delete(etcd)
  await node.pass(3)
  expect(node.podNamed('etcd')?.status.phase).toBe('Running')
})

test('two kubelets with the same node name and manifests: the second touches nothing of the first, not even at the end', async () => {
  const node = await start()
  await node.pod('web', app)
  await node.until('ours runs', () => node.podNamed('web')?.status.phase === 'Running')
  await node.calm()
  const [sandbox] = [...node.state.sandboxes.values()]
  // As if another kubelet had made it.
  Object.assign(sandbox?.status.annotations ?? {}, { 'keelson.dev/root-dir': '/var/lib/second' })
  const [container] = [...node.state.containers.values()]
  node.state.exitContainer(container?.status.id ?? '', { exitCode: 1 })
  await node.pass(30)
  expect(node.state.containers.size).toBe(1)
  await node.removeManifest('web')
  await node.until('it is forgotten', () => node.podNamed('web') === undefined)
  await node.pass(70)
  expect(isReady(node, sandbox?.status.id ?? '')).toBe(true)
})

test('cgroup, directory and logs of a pod that another kubelet is just starting are not cleaned up', async () => {
  const node = await start()
  const { cgroups, directory } = node.fixture
  const path = `/kubepods/pod${uid}`
  await cgroups.ensure(path)
  const places = [join(directory, 'root/pods'), join(directory, 'log/pods')]
  for (const [i, at] of places.entries())
    await mkdir(join(at, i === 0 ? uid : `default_web-node-2_${uid}`), { recursive: true })
  await node.pass(130)
  expect(cgroups.exists(path)).toBe(true)
  expect(await Promise.all(places.map((at) => readdir(at)))).toEqual([[uid], [`default_web-node-2_${uid}`]])
})

test('what an earlier life of this kubelet left is cleaned up', async () => {
  const node = await start()
  const { cgroups, directory } = node.fixture
  const path = `/kubepods/burstable/pod${uid}`
  await cgroups.ensure(path)
  for (const at of [`root/pods/${uid}`, `log/pods/default_web-node-1_${uid}`, 'root/keelson-pods'])
    await mkdir(join(directory, at), { recursive: true })
  await writeFile(join(directory, 'root/keelson-pods', uid), '')
  await node.pass(70)
  expect(cgroups.exists(path)).toBe(false)
  for (const at of ['root/pods', 'log/pods', 'root/keelson-pods'])
    expect(await readdir(join(directory, at)), at).toEqual([])
})

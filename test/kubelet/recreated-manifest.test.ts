// A manifest that is removed and written again, with real files: the pod ends in full and begins anew, as upstream.
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { image, VirtualNode } from './virtual-node.js'

const nodes: VirtualNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

const app = { containers: [{ name: 'app', image }] }
const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: app })

async function withPod(): Promise<{ node: VirtualNode; file: string }> {
  const node = await VirtualNode.start()
  nodes.push(node)
  const file = join(node.fixture.directory, 'manifests', 'web.yaml')
  await writeFile(file, manifest)
  await node.until('it runs', () => node.podNamed('web')?.status.phase === 'Running')
  return { node, file }
}

const restarts = (node: VirtualNode): number | undefined => {
  const [status] = node.podNamed('web')?.status.containerStatuses ?? []
  return status?.state.running === undefined ? undefined : status.restartCount
}

test('removed and written again at once: the pod is restarted, and the restart is counted', async () => {
  const { node, file } = await withPod()
  const [before] = [...node.state.sandboxes.keys()]
  await rm(file)
  await writeFile(file, manifest)
  await node.until('it runs again', () => restarts(node) === 1)
  expect([...node.state.sandboxes.keys()]).not.toContain(before)
})

test('written again while the pod still ends: it begins anew once it has ended', async () => {
  const { node, file } = await withPod()
  await rm(file)
  await node.until('it ends', () => node.podNamed('web')?.metadata.deletionTimestamp !== undefined)
  await writeFile(file, manifest)
  await node.until('it runs again', () => restarts(node) === 1)
})

test('replaced by the same content in one step: nothing happens to the pod', async () => {
  const { node, file } = await withPod()
  const before = [...node.state.containers.keys()]
  await writeFile(`${file}.new`, manifest)
  await rename(`${file}.new`, file)
  await node.pass(70)
  expect([...node.state.containers.keys()]).toEqual(before)
  expect(restarts(node)).toBe(0)
})

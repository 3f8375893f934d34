// A manifest that the file system does not let us look at, with real files: its pods stay, the other files count as before.
import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { image, VirtualNode } from './virtual-node.js'

const nodes: VirtualNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

const app = { containers: [{ name: 'app', image }] }

async function withTwoPods(): Promise<VirtualNode> {
  const node = await VirtualNode.start()
  nodes.push(node)
  for (const name of ['web', 'db']) {
    await node.pod(name, app)
    await node.until(`${name} runs`, () => node.podNamed(name)?.status.phase === 'Running')
  }
  return node
}

/** In one step, as a server that goes stale would: at no moment the name is gone. */
async function makeUnreadable(node: VirtualNode, name: string): Promise<string> {
  const file = join(node.fixture.directory, 'manifests', `${name}.yaml`)
  await symlink(`${name}.yaml`, `${file}.new`)
  await rename(`${file}.new`, file)
  return file
}

const reports = (node: VirtualNode): readonly unknown[] =>
  node.fixture.log.lines.filter((l) => l.level === 'error').map((l) => l.fields['file'])

test('a manifest that cannot be looked at does not end its pod, and another one still comes and goes', async () => {
  const node = await withTwoPods()
  const before = [...node.state.containers.keys()]
  const file = await makeUnreadable(node, 'web')
  await node.until('it is reported', () => reports(node).includes(file))
  await node.removeManifest('db')
  await node.until('the other one ends', () => node.podNamed('db') === undefined)
  await node.pass(70)
  expect(node.podNamed('web')?.status.phase).toBe('Running')
  expect([...node.state.containers.keys()]).toEqual(before.slice(0, 1))
  expect(reports(node)).toEqual([file])
  await rm(file)
  await node.until('removed for good it ends', () => node.state.sandboxes.size === 0)
})

test('a manifest that cannot be looked at when the kubelet starts does not end its pod either', async () => {
  const node = await withTwoPods()
  const before = [...node.state.containers.keys()]
  const file = await makeUnreadable(node, 'web')
  await node.restart()
  await node.pass(70)
  expect([...node.state.containers.keys()]).toEqual(before)
  await rm(file)
  await writeFile(
    file,
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: app }),
  )
  await node.until('it is back', () => node.podNamed('web')?.status.phase === 'Running')
  expect([...node.state.containers.keys()]).toEqual(before)
})

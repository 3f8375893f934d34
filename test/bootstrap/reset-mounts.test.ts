// reset and what is mounted below the directories that it empties: real bind mounts, whose contents must outlive it.
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createNodeMounts } from '../../src/adapters/node-root/mounts.js'
import { run } from '../../src/cli/program.js'
import { requires } from '../support/requirements.js'
import {
  capture,
  configPath,
  crio,
  ignorePreflight,
  kubeletDocument,
  runWired,
  useTestNode,
} from './fixture.js'

const mounted: string[] = []
const node = useTestNode(async (node) => {
  await node.put(configPath, kubeletDocument(crio))
  await node.put('/etc/kubernetes/pki/ca.crt', 'certificate')
  await mkdir(join(node.top, 'precious'))
  await writeFile(join(node.top, 'precious/data'), 'data')
})
afterEach(async () => {
  for (const point of mounted.splice(0)) {
    try {
      execFileSync('umount', [point], { stdio: 'ignore' })
    } catch {
      // As it should be: reset has taken it away.
    }
  }
})

async function bindBelow(path: string): Promise<void> {
  const point = join(node.root, path)
  await mkdir(point, { recursive: true })
  execFileSync('mount', ['--bind', join(node.top, 'precious'), point])
  mounted.push(point)
}

const reset = ['reset', '--force', '--cri-socket', crio, ...ignorePreflight]
const precious = () => readFile(join(node.top, 'precious/data'), 'utf8').catch(() => 'lost')

test.for(['/var/lib/kubelet/pods/x', '/etc/kubernetes/manifests/x', '/etc/kubernetes/pki/x'])(
  'what is mounted at %s is unmounted, not deleted',
  async (path, ctx) => {
    requires(ctx, { root: true, commands: ['mount', 'umount'] })
    await bindBelow(path)
    const { status, stdout } = await node.run(...reset)
    expect(await precious()).toBe('data')
    expect(status).toBe(0)
    expect(stdout).toContain(`unmounted ${join(node.root, path)}`)
    expect(await node.read('/etc/kubernetes/pki/ca.crt')).toBeUndefined()
  },
)

test('a root that is given through a link hides no mount', async (ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  await bindBelow('/var/lib/kubelet/pods/x')
  await symlink(node.root, join(node.top, 'link'))
  const { io } = capture()
  expect(await run(['node', ...reset, '--rootfs', join(node.top, 'link')], io)).toBe(0)
  expect(await precious()).toBe('data')
})

test('a list of mounts that cannot be read stops reset before it deletes anything', async () => {
  const { error } = await runWired(
    node,
    (ports) => ({ ...ports, mounts: createNodeMounts(node.root, join(node.top, 'no-mountinfo')) }),
    reset,
  )
  expect(error?.message).toMatch(/list mounts below \S*\/var\/lib\/kubelet: .*nothing was deleted/)
  expect(await node.read(configPath)).toBe(kubeletDocument(crio))
  expect(await node.read('/etc/kubernetes/pki/ca.crt')).toBe('certificate')
})

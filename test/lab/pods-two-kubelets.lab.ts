// Two real kubelets on one real containerd, with the same cgroup root and log directory: each leaves the other's pods alone.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { forever, type PodNode, shell, until } from '../kubelet/node.js'
import { endPods, running, useNode } from '../kubelet/use-node.js'
import { freePorts, type RunningCommand, startCommand } from '../support/command.js'

const node = useNode()
const settleMs = 20_000

interface Second {
  readonly nodeName: string
  readonly manifests: string
}

/** Beside the first one, with a root directory of its own. */
async function startSecond(first: PodNode, { nodeName, manifests }: Second): Promise<RunningCommand> {
  const [port = 0, healthPort = 0] = await freePorts(2)
  const directory = join(first.directory, 'second')
  await mkdir(manifests, { recursive: true })
  await mkdir(directory, { recursive: true })
  const config = join(directory, 'kubelet.yaml')
  const text = (await readFile(join(first.directory, 'kubelet.yaml'), 'utf8'))
    .replace(/^staticPodPath:.*$/m, `staticPodPath: ${manifests}`)
    .replace(/^port:.*$/m, `port: ${port}`)
    .replace(/^healthzPort:.*$/m, `healthzPort: ${healthPort}`)
  await writeFile(config, text)
  const command = startCommand([
    first.main,
    'kubelet',
    `--config=${config}`,
    `--keelson-config=${join(first.directory, 'keelson.yaml')}`,
    `--root-dir=${join(directory, 'root')}`,
    `--hostname-override=${nodeName}`,
    '--node-ip=192.0.2.1',
  ])
  await command.says('the kubelet is up')
  return command
}

const podOf = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { terminationGracePeriodSeconds: 1, containers: [shell('app', forever)] },
  })

/** Ids and states of everything in the runtime. */
async function everything(): Promise<readonly string[]> {
  const containers = (await node().containers()).map((c) => `${c.id} ${c.state}`)
  const sandboxes = (await node().sandboxes()).map((s) => `${s.id} ${s.state}`)
  return [...containers, ...sandboxes].sort()
}

const namesUp = async (): Promise<readonly string[]> =>
  (await node().containers())
    .filter((c) => c.state === 1)
    .map((c) => c.labels['io.kubernetes.pod.name'] ?? '')

test('POD-64 a second kubelet with other manifests, root directory and node name: neither ends the pods of the other', {
  timeout: 120_000,
}, async () => {
  await node().write('first.yaml', podOf('first'))
  await running(node(), 'first')
  const manifests = join(node().directory, 'second/manifests')
  await mkdir(manifests, { recursive: true })
  await writeFile(join(manifests, 'theirs.yaml'), podOf('theirs'))
  const second = await startSecond(node(), { nodeName: 'node-2', manifests })
  try {
    await until('both run', async () => (await namesUp()).length === 2)
    const before = await everything()
    expect([...(await namesUp())].sort()).toEqual(['first-node-1', 'theirs-node-2'])
    await sleep(settleMs)
    expect(await everything()).toEqual(before)
    expect(second.output()).toContain('ignoring a pod that this kubelet did not start')
    // A restart looks at strays and leftovers from the beginning.
    await node().stop('SIGKILL')
    await node().start()
    await sleep(3_000)
    expect(await everything()).toEqual(before)
  } finally {
    await second.end('SIGKILL')
  }
  // Its own pods end, with nobody to look after the others.
  await endPods(node(), 'first')
  expect(await namesUp()).toEqual(['theirs-node-2'])
  const again = await startSecond(node(), { nodeName: 'node-2', manifests: join(manifests, 'empty') })
  try {
    await until('its earlier life is known', async () => (await node().sandboxes()).length === 0)
  } finally {
    await again.end('SIGKILL')
  }
})

test('POD-65 a second kubelet with the same manifests and node name: one pod, not restarted, ended once', {
  timeout: 120_000,
}, async () => {
  await node().write('shared.yaml', podOf('shared'))
  await running(node(), 'shared')
  const before = await everything()
  const second = await startSecond(node(), { nodeName: 'node-1', manifests: node().manifests })
  try {
    await second.says('pod not started')
    await sleep(settleMs / 2)
    expect(await everything()).toEqual(before)
    await endPods(node(), 'shared')
    await sleep(3_000)
    expect(await everything()).toEqual([])
  } finally {
    await second.end('SIGKILL')
  }
})

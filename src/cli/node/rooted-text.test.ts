// With --rootfs every message names the files that were really touched, and the default endpoint has one spelling.
import { expect, test } from 'vitest'
import { createManager, runCri } from '../../../test/bootstrap/cri-fixture.js'
import {
  configPath,
  containerd,
  crio,
  flagsPath,
  ignorePreflight,
  kubeletDocument,
  useTestNode,
} from '../../../test/bootstrap/fixture.js'
import { rootedText } from './rooted-text.js'

const node = useTestNode()

/** Paths of the host in a message, where the node's own were meant. */
const ofHost = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => !line.startsWith('    '))
    .flatMap((line) => line.match(/(?<![\w./-])\/(var\/lib|etc)\/\S+/g) ?? [])

test('no message of a command with --rootfs names a path of this host', async () => {
  await node.listen(containerd)
  const init = await node.run('init', '--kubernetes-version', '1.36', ...ignorePreflight)
  expect(init.stdout).toContain(`wrote ${node.root}${configPath}\n`)
  const outputs = [
    init.stdout,
    (await node.run('status')).stdout,
    (await node.run('upgrade', 'node', '--dry-run', '--kubernetes-version', '1.36', ...ignorePreflight))
      .stdout,
    (await node.run('use-socket', crio, '--force')).stdout,
    (await node.run('use-socket', '--undo')).stdout,
    (await runCri(node, createManager(node, undefined).change, 'install', '--dry-run')).stdout,
    (await node.run('reset', '--force', ...ignorePreflight)).stdout,
    (await node.run('upgrade', 'node', '--kubernetes-version', '1.36', ...ignorePreflight)).stderr,
  ]
  expect(outputs.map((o) => o.length > 0)).toEqual(outputs.map(() => true))
  for (const output of outputs) expect(ofHost(output), output).toEqual([])
})

test('an error names the file below the root', async () => {
  await node.put(configPath, kubeletDocument())
  await node.put(flagsPath, 'OTHER="x"\n')
  const { stderr } = await node.run('upgrade', 'node', '--kubernetes-version', '1.36', ...ignorePreflight)
  expect(stderr).toContain(`read ${node.root}${flagsPath}: it does not set KUBELET_KUBEADM_ARGS`)
})

test('the default endpoint is the same text in status and init', async () => {
  expect((await node.run('status')).stdout).toContain(
    `the kubelet uses ${containerd} (default of the kubelet`,
  )
  const { stdout } = await node.run('init', '--dry-run', '--kubernetes-version', '1.36', ...ignorePreflight)
  expect(stdout).toContain(`CRI socket: ${containerd} (the default`)
})

test('rootedText leaves URLs, longer names and the texts of files alone', () => {
  const at = (text: string) => rootedText(text, { rootfs: '/mnt' })
  expect(at('wrote /var/lib/kubelet/config.yaml, /etc/crictl.yaml')).toBe(
    'wrote /mnt/var/lib/kubelet/config.yaml, /mnt/etc/crictl.yaml',
  )
  for (const same of [
    'unix:///var/lib/kubelet/x',
    '/x/var/lib/kubelet',
    '/var/lib/kubelet2',
    '    a: /var/lib/kubelet',
  ])
    expect(at(same)).toBe(same)
  expect(rootedText('/var/lib/kubelet', { rootfs: '/' })).toBe('/var/lib/kubelet')
})

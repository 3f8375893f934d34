// docs/cri-install.md shows what the command prints, and names every option that it has.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatCriUnit, quoteForUnit } from '../../src/bootstrap/cri-unit.js'
import { createCriInstall } from '../../src/cli/cri/install.js'
import { createManager, listen, runCri } from './cri-fixture.js'
import { capture, configPath, instancePath, kubeletDocument, useTestNode } from './fixture.js'

const repository = join(import.meta.dirname, '../..')
const page = readFileSync(join(repository, 'docs/cri-install.md'), 'utf8')
const runtime = 'unix:///run/containerd/containerd.sock'

const node = useTestNode()

test('the output on the page', async () => {
  await node.put(instancePath, `containerRuntimeEndpoint: "${runtime}"\n`)
  await node.put(configPath, kubeletDocument(runtime))
  await node.put('/run/keelson/.keep', '')
  await node.listen(runtime)
  const { error, stdout } = await runCri(node, createManager(node, 'kubelet.service').change, 'install')
  expect(error).toBeUndefined()
  expect(page).toContain(`$ keelson cri install\n${stdout.replaceAll(node.root, '')}$ `)
})

test('every option is on the page', () => {
  for (const { long, hidden } of createCriInstall(capture().io).options)
    if (!hidden) expect(page).toContain(long)
})

test('the unit has the settings of the one in deploy/, and a command line that systemd reads as it is meant', () => {
  const deployed = readFileSync(join(repository, 'deploy/systemd/keelson-cri.service'), 'utf8')
  const settings = (text: string): string[] =>
    text
      .split('\n')
      .filter((line) => /^\w+=/.test(line) && !/^(ExecStart(Post)?|Environment=KEELSON\w+)=/.test(line))
  const unit = (program: readonly string[], socket = listen) =>
    formatCriUnit({ program, upstream: runtime, listen: socket, mode: 'complete', values: 'repair' })
  expect(settings(unit(['/usr/local/bin/keelson']))).toEqual(settings(deployed))
  // A program in somebody's home must be seen by the service; another directory is not systemd's to make.
  expect(unit(['/root/.nvm/node', '/root/main.js'])).not.toContain('ProtectHome')
  expect(unit(['/x'], 'unix:///var/lib/x/cri.sock')).not.toContain('RuntimeDirectory')
  expect(['/opt/my keelson', '/a%b', '/a$b', '/a"b', '/plain'].map(quoteForUnit)).toEqual([
    '"/opt/my keelson"',
    '/a%%b',
    '/a$$b',
    '"/a\\"b"',
    '/plain',
  ])
})

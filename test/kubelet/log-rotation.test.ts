// Rotation of logs by the whole kubelet on a virtual clock: real files, and a runtime that reopens, refuses or is late.
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { NodeState } from '../../src/fakes/cri/node-state.js'
import { image, VirtualNode, type VirtualNodeOptions } from './virtual-node.js'

const nodes: VirtualNode[] = []
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close()
})

const config = 'containerLogMaxSize: "100"\ncontainerLogMaxFiles: 3\ncontainerLogMonitorInterval: 5s\n'

/** A pod whose log is ours to write. */
async function chatty(
  reopen: NonNullable<VirtualNodeOptions['scripts']>,
): Promise<{ node: VirtualNode; log: string; files: () => string[]; write: (text: string) => void }> {
  const node = await VirtualNode.start({ config, scripts: reopen })
  nodes.push(node)
  await node.pod('chatty', { containers: [{ name: 'app', image }] })
  await node.until('it runs', () => [...node.state.containers.values()].some((c) => c.status.state === 1))
  await node.calm()
  const log = [...node.state.containers.values()][0]?.status.logPath ?? ''
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, '')
  return {
    node,
    log,
    files: () => readdirSync(dirname(log)).sort(),
    write: (text) => appendFileSync(log, text.padEnd(120, '.')),
  }
}

/** What a runtime does: a new, empty file in the old place. */
const reopens = (state: NodeState): NonNullable<ReturnType<NonNullable<VirtualNodeOptions['scripts']>>> => ({
  ReopenContainerLog: ({ containerId }) => {
    appendFileSync(state.containers.get(containerId)?.status.logPath ?? '', '')
    return { value: {} }
  },
})

test('a log above containerLogMaxSize is rotated, older files are compressed, containerLogMaxFiles is kept', async () => {
  const { node, log, files, write } = await chatty(reopens)
  write('small')
  writeFileSync(log, 'x'.repeat(99))
  await node.pass(6)
  expect(files()).toEqual(['0.log'])
  for (const text of ['one', 'two', 'three', 'four']) {
    write(text)
    await node.pass(6)
  }
  const [current, older = '', newest = ''] = files()
  expect(files()).toHaveLength(3)
  expect(current).toBe('0.log')
  expect(older).toMatch(/^0\.log\.\d{8}-\d{6}\.gz$/)
  expect(newest).toMatch(/^0\.log\.\d{8}-\d{6}$/)
  expect(gunzipSync(readFileSync(join(dirname(log), older))).toString()).toMatch(/^three/)
  expect(readFileSync(join(dirname(log), newest), 'utf8')).toMatch(/^four/)
  expect(readFileSync(log, 'utf8')).toBe('')
  const { body } = await node.fixture.metrics.text()
  expect(body).toContain('keelson_container_log_rotations_total{outcome="rotated"} 4')
  await node.removeManifest('chatty')
  await node.until('its logs have gone', () => !existsSync(dirname(log)))
})

test('a runtime that does not reopen: the file gets its name back, it is said once, and the next round tries again', async () => {
  const { node, log, files, write } = await chatty(() => ({
    ReopenContainerLog: { code: 'UNKNOWN', message: 'container is not running' },
  }))
  write('kept')
  await node.pass(16)
  expect(files()).toEqual(['0.log'])
  expect(readFileSync(log, 'utf8')).toMatch(/^kept/)
  expect(node.fixture.runtime.callsOf('ReopenContainerLog').length).toBeGreaterThanOrEqual(3)
  const said = node.fixture.log.lines.filter((l) => l.message.includes('container log rotation failed'))
  expect(said).toHaveLength(1)
})

test('a runtime that reopened but answered too late: neither file replaces the other', async () => {
  const { node, log, files, write } = await chatty((state) => ({
    ReopenContainerLog: (request) => {
      writeFileSync(state.containers.get(request.containerId)?.status.logPath ?? '', 'new')
      return { code: 'DEADLINE_EXCEEDED', message: 'too late' }
    },
  }))
  write('old')
  await node.pass(6)
  expect(files()).toHaveLength(2)
  expect(readFileSync(log, 'utf8')).toBe('new')
  expect(readFileSync(join(dirname(log), files()[1] ?? ''), 'utf8')).toMatch(/^old/)
})

test('a log that somebody deleted is opened again', async () => {
  const { node, log, files } = await chatty(reopens)
  await node.fixture.ports.podHost.remove(log)
  await node.pass(6)
  expect(files()).toEqual(['0.log'])
})

test('rotated files of an instance go with it', async () => {
  const { node, log, files, write } = await chatty(reopens)
  write('first')
  await node.pass(6)
  expect(files()).toHaveLength(2)
  const end = (): void => {
    for (const { status } of node.state.containers.values())
      if (status.state === 1) node.state.exitContainer(status.id, { exitCode: 1 })
  }
  end()
  await node.pass(3)
  end()
  await node.pass(15)
  expect(files().filter((name) => name.startsWith('0.log'))).toEqual([])
  expect(existsSync(dirname(log))).toBe(true)
})

test('a root directory behind a link: pods are given the real path', async () => {
  const node = await VirtualNode.start({ linkedRoot: true })
  nodes.push(node)
  await node.pod('linked', {
    containers: [{ name: 'app', image, volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
  })
  await node.until('it runs', () => [...node.state.containers.values()].some((c) => c.status.state === 1))
  const mounts = [...node.state.containers.values()][0]?.config.mounts.map((m) => m.hostPath) ?? []
  const below = mounts.filter((path) => path.startsWith(node.fixture.directory))
  expect(below.length).toBeGreaterThan(1)
  for (const path of below) expect(path.startsWith(join(node.fixture.directory, 'data/pods/'))).toBe(true)
})

// The vector suite itself: every part of an expectation is really compared.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nodeLocalCriSocket } from '../vectors-runner/suites/node-local-cri-socket/suite.js'
import { fieldsAt, isFields } from '../vectors-runner/types.js'

const file = JSON.parse(
  readFileSync(join(import.meta.dirname, '../vectors/node-local-cri-socket.json'), 'utf8'),
)
const find = (id: string) => file.cases.find((c: { id: string }) => c.id === id)

const rows: readonly [id: string, key: string, wrong: unknown, path: string][] = [
  ['nls-032', 'outcome', 'error', 'outcome'],
  ['nls-007', 'outcome', 'ok', 'outcome'],
  ['nls-007', 'errorContains', ['no such words'], 'errorContains'],
  ['nls-032', 'criSocketUsed', 'unix:///x', 'criSocketUsed'],
  ['nls-032', 'warnings', ['stale-endpoint-flag'], 'warnings'],
  ['nls-021', 'warnings', [], 'warnings'],
  ['nls-032', 'annotation', 'unix:///x', 'annotation'],
  ['nls-003', 'kubeletConfigMapEndpoint', '', 'kubeletConfigMapEndpoint'],
  [
    'nls-032',
    'files',
    { '/var/lib/kubelet/kubeadm-flags.env': { text: 'x' } },
    'files./var/lib/kubelet/kubeadm-flags.env',
  ],
  [
    'nls-032',
    'files',
    { '/var/lib/kubelet/config.yaml': { yaml: {} } },
    'files./var/lib/kubelet/config.yaml',
  ],
  [
    'nls-032',
    'files',
    { '/var/lib/kubelet/config.yaml': { state: 'unchanged' } },
    'files./var/lib/kubelet/config.yaml',
  ],
  [
    'nls-032',
    'files',
    { '/var/lib/kubelet/config.yaml': { state: 'absent' } },
    'files./var/lib/kubelet/config.yaml',
  ],
  ['nls-044', 'wouldWrite', {}, 'wouldWrite./var/lib/kubelet/instance-config.yaml'],
  ['nls-047', 'wouldDeleteContentsOf', ['/var/lib/other'], 'wouldDeleteContentsOf'],
  [
    'nls-032',
    'backupOf',
    { '/var/lib/kubelet/kubeadm-flags.env': 'x' },
    'backupOf./var/lib/kubelet/kubeadm-flags.env',
  ],
]

describe('a wrong expectation is a difference', () => {
  test.each(rows)('%s %s', async (id, key, wrong, path) => {
    const vector = find(id)
    expect(isFields(vector)).toBe(true)
    expect(await nodeLocalCriSocket.run(vector, file)).toEqual([])
    const changed = { ...vector, expected: { ...fieldsAt(vector, 'expected'), [key]: wrong } }
    const differences = await nodeLocalCriSocket.run(changed, file)
    expect(differences.map((d) => d.path)).toContain(path)
  })
})

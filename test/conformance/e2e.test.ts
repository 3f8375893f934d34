// Kubernetes' cluster suite: the score on the page is that of the recorded results, and every spec that does not pass has a reason.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  environmentLimitOf,
  environmentLimits,
  keelsonLimitOf,
  keelsonLimits,
} from '../../conformance/e2e/limits.js'
import { formatScore, renderPage } from '../../conformance/e2e/table.js'
import { type Results, readResults, resultsPath } from '../../conformance/e2e-node/results.js'

const root = join(import.meta.dirname, '../..')
const runtime = 'containerd-2'

const results = (kubelet: string, outcomes: Readonly<Record<string, 'passed' | 'failed'>>): Results => ({
  suite: 'e2e.test v1',
  kubelet,
  runtime: 'containerd',
  machine: 'Linux',
  specs: Object.fromEntries(
    Object.entries(outcomes).map(([name, outcome]) => [name, { group: 'pods' as const, outcome }]),
  ),
})

test('the score counts by group and names what differs', () => {
  const upstream = results('kubelet', {
    '[sig-node] a': 'passed',
    '[sig-node] b': 'failed',
    '[sig-apps] c': 'passed',
  })
  const keelson = results('keelson', { '[sig-node] a': 'failed', '[sig-node] b': 'failed' })
  const score = formatScore(upstream, keelson)
  expect(score).toContain('| sig-apps | 1 | 1 | - |\n| sig-node | 2 | 1 | 0 |\n| all | 3 | 2 | 0 |')
  expect(score).toMatch(/limit of the environment:\n\n.*\n.*\n\| \[sig-node\] b \| failed \|/)
  expect(score).toMatch(/not by Keelson:\n\n.*\n.*\n\| \[sig-node\] a \| failed \|/)
})

describe('recorded', () => {
  test('the page has the score of the recorded results', async () => {
    expect(await renderPage()).toBe(readFileSync(join(root, 'docs/conformance.md'), 'utf8'))
  })

  test('what does not pass is listed, and what is listed does not pass', async () => {
    const [upstream, keelson] = await Promise.all(
      (['upstream', 'keelson'] as const).map((kubelet) =>
        readResults(resultsPath('e2e', { kubelet, runtime })),
      ),
    )
    const missing = (of: Results | undefined): string[] =>
      Object.entries(of?.specs ?? {})
        .filter(([, { outcome }]) => outcome !== 'passed')
        .map(([name]) => name)
    expect(missing(upstream).filter((name) => environmentLimitOf(name) === undefined)).toEqual([])
    expect(
      missing(keelson).filter((name) => (environmentLimitOf(name) ?? keelsonLimitOf(name)) === undefined),
    ).toEqual([])
    for (const name of [...environmentLimits, ...keelsonLimits].flatMap(({ specs }) => specs))
      expect(keelson?.specs[name]?.outcome, name).not.toBe('passed')
  })
})

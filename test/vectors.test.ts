// Every vector file in test/vectors goes through the product's code, and the runner itself is shown to fail.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compare } from './vectors-runner/compare.js'
import { filesOf, findArgument } from './vectors-runner/paths.js'
import { formatCounts, formatResult } from './vectors-runner/report.js'
import { isPassed, runVectorFile, runVectors } from './vectors-runner/runner.js'
import type { Suite } from './vectors-runner/types.js'

const folder = join(import.meta.dirname, 'vectors')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.json'))

describe('vectors', () => {
  for (const file of files) {
    test(file, async () => {
      const results = await runVectorFile(join(folder, file))
      expect(results.filter((r) => !isPassed(r)).map(formatResult)).toEqual([])
      expect(results.length).toBeGreaterThan(0)
    })
  }
})

describe('the runner', () => {
  const quantity = (expected: object, more: object = {}) => ({
    suite: 'memory-qos',
    cases: [{ id: 'q', kind: 'quantity', input: { quantity: '1Ki' }, expected, ...more }],
  })

  test('shows a difference with its path', async () => {
    const results = await runVectors('f.json', quantity({ valid: true, value: '1' }))
    expect(results.map(formatResult)).toEqual(['FAIL f.json q\n  value: expected "1", got "1024"'])
    expect(formatCounts(results)).toBe('0 passed, 1 failed')
  })
  test('takes a second acceptable value, for the fields it names', async () => {
    const alsoAccept = { value: '1024' }
    expect((await runVectors('f', quantity({ value: '1' }, { alsoAccept }))).every(isPassed)).toBe(true)
    expect(
      (await runVectors('f', quantity({ value: '1', valid: false }, { alsoAccept }))).every(isPassed),
    ).toBe(false)
  })
  test('fails each case of a suite it does not know, and a file without cases', async () => {
    const unknown = await runVectors('f', { suite: 'x', cases: [{ id: 'a' }, { id: 'b' }] })
    expect(unknown.map((r) => [r.id, isPassed(r)])).toEqual([
      ['a', false],
      ['b', false],
    ])
    expect((await runVectors('f', { metrics: [] })).map(isPassed)).toEqual([false])
    expect((await runVectors('f', { suite: 'memory-qos', cases: [] })).map(isPassed)).toEqual([false])
  })
  test('takes the catalogue of metrics, which names no suite, one case a metric', async () => {
    const results = await runVectorFile(join(import.meta.dirname, 'fixtures/cadvisor-metrics.json'))
    expect(results.filter((r) => !isPassed(r)).map(formatResult)).toEqual([])
    expect(results).toHaveLength(106)
    const wrong = { name: 'container_cpu_usage_seconds_total', type: 'gauge' }
    const unknown = { name: 'container_of_nobody', keelson: 'required' }
    const noReason = { name: 'container_of_nobody', keelson: 'optional' }
    const metrics = [wrong, unknown, noReason, {}]
    expect((await runVectors('f', { metrics })).map(isPassed)).toEqual([false, false, false, false])
  })
  test('fails a case that expects nothing or has an unknown kind', async () => {
    expect((await runVectors('f', quantity({}))).map(isPassed)).toEqual([false])
    expect((await runVectors('f', quantity({ valid: true }, { kind: 'x' }))).map(isPassed)).toEqual([false])
  })
  test('fails a file that cannot be read or is no JSON', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'keelson-vectors-'))
    try {
      writeFileSync(join(dir, 'bad.json'), '{')
      for (const name of ['bad.json', 'missing.json', '.']) {
        expect((await runVectorFile(join(dir, name))).map(isPassed)).toEqual([false])
      }
      writeFileSync(join(dir, 'mark.json'), `\uFEFF${JSON.stringify(quantity({ valid: true }))}`)
      expect((await runVectorFile(join(dir, 'mark.json'))).map(isPassed)).toEqual([true])
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
  test('takes paths from where it was called, and a directory for the files in it', () => {
    const dir = mkdtempSync(join(tmpdir(), 'keelson vectors '))
    try {
      expect(filesOf(dir)).toEqual([dir])
      for (const name of ['b.json', 'a.json', 'README.md']) writeFileSync(join(dir, name), '')
      expect(filesOf(dir)).toEqual([join(dir, 'a.json'), join(dir, 'b.json')])
      mkdirSync(join(dir, 'below'))
      writeFileSync(join(dir, 'below/c.json'), '')
      expect(filesOf(dir)).toContain(join(dir, 'below/c.json'))
      expect(findArgument('a.json', dir)).toBe(join(dir, 'a.json'))
      expect(findArgument('package.json', dir)).toBe('package.json')
      expect(findArgument('a.json', undefined)).toBe('a.json')
      expect(filesOf(findArgument('missing.json', dir))).toEqual(['missing.json'])
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
  test('knows what a file without defaults means', async () => {
    const driver = {
      suite: 'cgroup-driver',
      cases: [
        {
          id: 'd',
          input: { kubeletVersion: '1.39', cri: { connect: 'ok', calls: [{ driver: 'CGROUPFS' }] } },
          expected: { outcome: 'start', driver: 'cgroupfs', source: 'cri', warnings: [] },
        },
      ],
    }
    const socket = {
      suite: 'node-local-cri-socket',
      cases: [{ id: 's', input: { kubeadmVersion: '1.36', command: 'init' }, expected: { outcome: 'ok' } }],
    }
    const results = [...(await runVectors('f', driver)), ...(await runVectors('f', socket))]
    expect(results.filter((r) => !isPassed(r)).map(formatResult)).toEqual([])
  })
  test('runs asynchronous suites and files that are one case', async () => {
    const suite: Suite = {
      suite: 'one',
      cases: (file) => [file],
      run: async (vector) => compare(vector['expected'], { a: 1 }),
    }
    const results = await runVectors('f', { suite: 'one', name: 'n', expected: { a: 1 } }, [suite])
    expect(results).toMatchObject([{ id: 'n', differences: [] }])
  })
})

// The critest unit's own parts, without building a peer: reports, comparison, images and the registry that serves them.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { cannotRun, specsOf } from '../../conformance/critest/cannot-run.js'
import { compareRuns, formatRun } from '../../conformance/critest/compare.js'
import { effectiveUidProgram } from '../../conformance/critest/effective-uid.js'
import { testImages } from '../../conformance/critest/image-list.js'
import { parseReport, type Spec, suiteFailures } from '../../conformance/critest/report.js'
import { leftSegments, parseSegments } from '../../conformance/critest/shared-memory.js'
import { packImages } from '../../conformance/images/registry.js'
import { requires } from '../support/requirements.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-critest-test-'))
afterAll(() => rmSync(dir, { recursive: true }))

const it = (text: string, state: string, message?: string) => ({
  LeafNodeType: 'It',
  ContainerHierarchyTexts: ['[k8s.io] Container', 'runtime should  support log'],
  LeafNodeText: text,
  State: state,
  ...(message === undefined ? {} : { Failure: { Message: message } }),
})
const report = (...specs: object[]): string => JSON.stringify([{ SpecReports: specs }])

describe('parseReport', () => {
  test('names, outcomes and messages; in order of names', () => {
    const text = report(
      it('b', 'passed'),
      it('a', 'failed', ' it broke\n'),
      it('c', 'skipped', 'not here'),
      it('d', 'panicked'),
      it('e', 'pending', 'later'),
    )
    expect(parseReport(text)).toEqual([
      { name: 'Container: runtime should support log: a', outcome: 'failed', message: 'it broke' },
      { name: 'Container: runtime should support log: b', outcome: 'passed' },
      { name: 'Container: runtime should support log: c', outcome: 'skipped', message: 'not here' },
      { name: 'Container: runtime should support log: d', outcome: 'failed' },
      { name: 'Container: runtime should support log: e', outcome: 'skipped', message: 'later' },
    ])
  })

  test('set-up steps and what was not chosen are no specs', () => {
    const text = report(
      { ...it('', 'passed'), LeafNodeType: 'BeforeSuite' },
      it('benchmark about operations on Container', 'skipped'),
    )
    expect(parseReport(text)).toEqual([])
  })

  test('a second attempt is told, a first one is nothing to tell', () => {
    const text = report({ ...it('a', 'passed'), NumAttempts: 1 }, { ...it('b', 'passed'), NumAttempts: 2 })
    expect(parseReport(text).map((s) => s.attempts)).toEqual([undefined, 2])
  })

  test('two specs with one name are an error', () => {
    expect(() => parseReport(report(it('a', 'passed'), it('a', 'failed')))).toThrow(/one name/)
  })

  test('a suite without specs is an empty list, and what is no report an error', () => {
    expect(parseReport('[{"SpecReports":null}]')).toEqual([])
    expect(() => parseReport('{}')).toThrow(/no list of suites/)
  })

  test('a suite that could not begin says why', () => {
    const text = report({ ...it('', 'failed', 'no socket'), LeafNodeType: 'BeforeSuite' }, it('a', 'failed'))
    expect(suiteFailures(text)).toEqual(['BeforeSuite: no socket'])
  })
})

describe('compareRuns', () => {
  const spec = (name: string, outcome: Spec['outcome'], message?: string): Spec => ({
    name,
    outcome,
    ...(message === undefined ? {} : { message }),
  })

  test('equal runs', () => {
    const specs = [spec('a', 'passed'), spec('b', 'failed')]
    expect(compareRuns(specs, specs, new Set(['b']))).toEqual({
      direct: { passed: 1, failed: 1, skipped: 0 },
      through: { passed: 1, failed: 1, skipped: 0 },
      lost: [],
      gained: [],
      unexplained: [],
      stale: [],
    })
  })

  for (const [name, through, expected] of [
    ['fails', [spec('a', 'failed', 'no')], { name: 'a', through: 'failed', message: 'no' }],
    [
      'is skipped',
      [spec('a', 'skipped', 'not here')],
      { name: 'a', through: 'skipped', message: 'not here' },
    ],
    ['is absent', [], { name: 'a', through: 'absent', message: '' }],
  ] as const)
    test(`a spec that passes directly and ${name} through the server is lost`, () => {
      expect(compareRuns([spec('a', 'passed')], through, new Set()).lost).toEqual([expected])
    })

  test('a spec that passes only through the server is gained', () => {
    const { gained, lost } = compareRuns([spec('a', 'skipped')], [spec('a', 'passed')], new Set(['a']))
    expect({ gained, lost }).toEqual({ gained: ['a'], lost: [] })
  })

  test('the list must name everything that does not pass directly, and nothing else', () => {
    const direct = [spec('a', 'failed', 'm'), spec('b', 'passed'), spec('c', 'skipped')]
    const { unexplained, stale } = compareRuns(direct, direct, new Set(['b', 'c', 'gone']))
    expect(unexplained).toEqual([spec('a', 'failed', 'm')])
    expect(stale).toEqual(['b', 'gone'])
  })

  test('counts in words', () => {
    expect(formatRun({ passed: 60, failed: 2, skipped: 1 })).toBe('60 passed, 2 failed, 1 skipped')
  })
})

test('the page has every spec that cannot pass, with its reason, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/conformance.md'), 'utf8')
  const table = page.split('### Specs that cannot pass here')[1]?.split('\n## ')[0] ?? ''
  const rows = [...table.matchAll(/^\| (.+) \| (.+) \|$/gm)].slice(1).map(([, spec, why]) => ({ spec, why }))
  expect(rows).toEqual(cannotRun.flatMap((c) => specsOf(c).map((spec) => ({ spec, why: c.why }))))
})

test("segments of shared memory: only new ones of critest, in nobody's use, count as left", () => {
  const head = '       key      shmid perms                  size  cpid  lpid nattch   uid\n'
  const line = (id: number, size: number, attached: number) =>
    ` 123456 ${id}   644               ${size} 4242     0      ${attached}     0     0     0     0`
  const before = parseSegments(`${head}${line(1, 1_048_576, 0)}\n`)
  const after = parseSegments(
    head + [line(1, 1_048_576, 0), line(2, 1_048_576, 0), line(3, 1_048_576, 2), line(4, 4096, 0)].join('\n'),
  )
  expect(leftSegments(before, after)).toEqual(['2'])
  expect(parseSegments('')).toEqual([])
})

test('the program of the image nonewprivs prints its effective user', (ctx) => {
  requires(ctx, { commands: ['cc'] })
  const file = join(dir, 'nnp')
  writeFileSync(file, effectiveUidProgram(), { mode: 0o755 })
  expect(spawnSync(file).stdout.toString()).toBe(`Effective uid: ${process.geteuid?.()}\n`)
})

test('images: tags of one image share its manifest, all others have an identity of their own', async () => {
  const programs = { busybox: Buffer.from('busybox'), pause: Buffer.from('pause'), nnp: Buffer.from('nnp') }
  const content = await packImages(testImages(programs, ['sh', 'ls']))
  const manifest = (name: string) => content.get(`manifests/k8s-staging-cri-tools/${name}`)?.digest
  expect(manifest('test-image-tags/1')).toBe(manifest('test-image-tags/3'))
  const names = ['test-image-1/latest', 'test-image-2/latest', 'test-image-tag/test', 'test-image-tag/all']
  expect(new Set(names.map(manifest)).size).toBe(names.length)
})

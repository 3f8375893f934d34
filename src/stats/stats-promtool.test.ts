// What Prometheus' own linter says of every family and of whole answers: nothing but the names on the docs page.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requires } from '../../test/support/requirements.js'
import { createStatsFixture, text } from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'
import { allFamilies } from './catalogue/index.js'
import { createExposition } from './render/exposition.js'
import { formatLabels } from './render/label-set.js'

const docs = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')

/** Rows of the table below the heading: name and what is reported. */
const listed = (docs.split('## Names that upstream fixed')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .flatMap((line) => {
    const [, name, report] = /^\| `(\w+)` \| (.+) \|$/.exec(line) ?? []
    return name === undefined || report === undefined ? [] : [`${name} ${report}`]
  })

function lint(exposition: string): string[] {
  const { stdout, stderr, error } = spawnSync('promtool', ['check', 'metrics'], {
    input: exposition,
    encoding: 'utf8',
    timeout: 30_000,
  })
  if (error !== undefined) throw error
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line !== '')
  return [...new Set(lines)].sort()
}

test('promtool: every family that can be shown', (ctx) => {
  requires(ctx, { commands: ['promtool'] })
  const into = createExposition()
  for (const family of allFamilies)
    into.add(family, formatLabels(family.extraLabels.map((label) => [label, 'x'])), 1n, '')
  expect(lint(text(into.pieces()))).toEqual(listed.toSorted())
})

test('promtool: whole answers', async (ctx) => {
  requires(ctx, { commands: ['promtool'] })
  const fixture = await createStatsFixture({ pods: [web, etcd] })
  try {
    await fixture.tick()
    const found = [
      ...lint(text(await fixture.stats.cadvisor(0))),
      ...lint(text(await fixture.stats.resource(0))),
    ]
    expect(found.filter((line) => !listed.includes(line))).toEqual([])
    expect(lint(`${text(await fixture.stats.resource(0))}broken{ 1\n`)).not.toEqual([])
  } finally {
    await fixture.close()
  }
})

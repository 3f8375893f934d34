// test/scenarios.md lists every scenario that has an id, by the words of the test that runs it: none is missing, none is
// only written down. UPDATE_GOLDEN=1 writes the page anew.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectGolden } from './support/golden.js'

const lab = join(import.meta.dirname, 'lab')

interface Scenario {
  readonly id: string
  readonly title: string
  readonly file: string
}

/** Of a test or of a check inside a fixture; the title is one literal: `test('POD-01 words'`, `name: 'POD-01 words'`. */
function scenariosIn(file: string): readonly Scenario[] {
  const text = readFileSync(join(lab, file), 'utf8')
  return [...text.matchAll(/(?:test\(|name:)\s*(['"`])([A-Z]+-\d+) (.+?)\1[,)]/g)].map(
    ([, , id = '', title = '']) => ({
      id,
      title,
      file,
    }),
  )
}

const files = readdirSync(lab, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort()
const scenarios = files.flatMap(scenariosIn).sort((a, b) => (a.id < b.id ? -1 : 1))

test('no id is used twice', () => {
  const ids = scenarios.map(({ id }) => id)
  expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([])
  expect(ids.length).toBeGreaterThanOrEqual(30)
})

test('the page lists them all', () => {
  const rows = scenarios.map(({ id, title, file }) => `| ${id} | ${title} | \`${file}\` |`)
  const page = [
    '# Scenarios',
    '',
    'End to end against real components, by id. `POD-*`: the kubelet runs pods. `PKG-*`: the packages are installed, upgraded and removed.',
    'Files are below `test/lab/`; a part runs with `npm run test:lab -- PART`, where PART is a piece of a file name.',
    '',
    '| id | what is shown | file |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
  expectGolden('../scenarios.md', page)
})

// ARCHITECTURE.md walks through the code file by file. A walk that names a file which is gone, or which nothing before it
// on the walk leads to, sends a reader astray: each row must be imported by an earlier one, or share a named interface.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')

interface Row {
  readonly file: string
  /** The interface that the file and an earlier one both import: a port, or the shape of a unit in a list. */
  readonly through: string | undefined
}

interface Walk {
  readonly title: string
  readonly rows: readonly Row[]
}

function readWalks(page: string): Walk[] {
  const section = page.split(/^## /m).find((s) => s.startsWith('Seven walks')) ?? ''
  return section
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      title: text.split('\n')[0] ?? '',
      rows: [...text.matchAll(/^\| `([^`]+)`(?: through `([^`]+)`)? \|/gm)].map((m) => ({
        file: m[1] ?? '',
        through: m[2],
      })),
    }))
}

function importsOf(file: string): ReadonlySet<string> {
  const text = readFileSync(join(src, file), 'utf8')
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g)]
  return new Set(
    found.flatMap((m) =>
      ['.ts', '.tsx'].map((end) => relative(src, resolve(src, dirname(file), `${m[1] ?? ''}${end}`))),
    ),
  )
}

const production = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.tsx?$/.test(f) && !/\.test\.tsx?$/.test(f),
)

/** What is wrong with each row; nothing when the walk can be followed. */
function problemsOf({ rows }: Walk): string[] {
  return rows.flatMap(({ file, through }, i) => {
    if (!existsSync(join(src, file))) return [`${file} does not exist`]
    if (i === 0) return []
    const earlier = rows.slice(0, i).filter((r) => existsSync(join(src, r.file)))
    if (through === undefined)
      return earlier.some((r) => importsOf(r.file).has(file)) ? [] : [`no earlier file imports ${file}`]
    if (!existsSync(join(src, through))) return [`${through} does not exist`]
    if (!importsOf(file).has(through)) return [`${file} does not import ${through}`]
    if (!earlier.some((r) => r.file === through || importsOf(r.file).has(through)))
      return [`no earlier file imports ${through}`]
    return production.some((f) => importsOf(f).has(file)) ? [] : [`${file} is wired by nothing`]
  })
}

const walks = readWalks(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))

describe('the walks of ARCHITECTURE.md', () => {
  test('there are seven, and none is a stub', () => {
    expect(walks.map((w) => w.title)).toHaveLength(7)
    for (const walk of walks) expect(walk.rows.length, walk.title).toBeGreaterThan(8)
  })

  test.each(walks)('$title: every file exists and is reached from an earlier one', (walk) => {
    expect(problemsOf(walk)).toEqual([])
  })

  test('a walk that cannot be followed is refused', () => {
    const row = (file: string, through?: string): Row => ({ file, through })
    const walk = (...rows: Row[]): Walk => ({ title: 'wrong', rows })
    expect(problemsOf(walk(row('cli/main.ts'), row('core/gone.ts')))).toEqual(['core/gone.ts does not exist'])
    expect(problemsOf(walk(row('cli/main.ts'), row('core/pod/qos-class.ts')))).toEqual([
      'no earlier file imports core/pod/qos-class.ts',
    ])
    expect(problemsOf(walk(row('cli/main.ts'), row('adapters/clock/clock.ts', 'ports/clock.ts')))).toEqual([
      'no earlier file imports ports/clock.ts',
    ])
  })
})

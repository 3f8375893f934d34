// Reads every import of src/ and fails on an edge that the table does not have. The table is the rule;
// ARCHITECTURE.md shows the same one, and a test below compares the two.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Folder of src -> what it may import: folders of ours, `node` for node:*, or a package's name. `*` is everything. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  config: ['core', 'yaml'],
  'cri-api': ['@bufbuild/protobuf'],
  ports: ['core', 'cri-api'],
  stats: ['core', 'cri-api', 'ports'],
  'memory-qos': ['core', 'cri-api', 'ports'],
  serve: ['core', 'ports', 'stats', 'prom-client'],
  kubelet: ['core', 'config', 'cri-api', 'ports', 'stats', 'memory-qos', 'serve'],
  criserver: ['core', 'cri-api', 'ports', 'stats', 'serve'],
  doctor: ['core', 'config', 'cri-api', 'ports', 'stats'],
  bootstrap: ['core', 'config', 'ports', 'doctor', 'yaml', 'rfc6902'],
  adapters: ['core', 'cri-api', 'ports', 'node', '*'],
  top: ['core', 'ports', 'serve'],
  up: ['core'],
  dashboard: ['core', 'preact', 'uplot'],
  fakes: ['core', 'cri-api', 'ports', 'node', '@jellybrick/dbus-next'],
  lab: ['*'],
  cli: ['*'],
}
/** Folders that only the composition roots and tests may reach for. */
const closedTo: Record<string, readonly string[]> = {
  cli: [],
  lab: ['cli'],
  fakes: [],
  adapters: ['lab', 'cli'],
  dashboard: [],
}

interface Edge {
  readonly file: string
  readonly from: string
  readonly to: string
  /** What is imported: a path from the repository's root, or a specifier. */
  readonly target: string
  readonly typeOnly: boolean
}

const sources = (dir: string): string[] =>
  readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((f) => /\.tsx?$/.test(f))
    .map((f) => join(dir, f))

/** Rules about code must not trip over words in comments. */
const codeOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1')

const importPattern =
  /(?:^|\n)\s*(import|export)\s+(type\s+)?(?:[^'"();]*?\sfrom\s+)?['"]([^'"]+)['"]|\b(?:import|require)\(\s*['"]([^'"]+)['"]\s*\)/g

function edges(file: string): Edge[] {
  const text = readFileSync(join(root, file), 'utf8')
  const from = file.split('/')[1] ?? ''
  return [...text.matchAll(importPattern)].map((m) => {
    const specifier = m[3] ?? m[4] ?? ''
    const typeOnly = m[2] !== undefined
    if (specifier.startsWith('node:')) return { file, from, to: 'node', target: specifier, typeOnly }
    if (!specifier.startsWith('.')) {
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
      return { file, from, to: name, target: specifier, typeOnly }
    }
    const target = relative(root, resolve(root, dirname(file), specifier))
    const to = target.startsWith('src/') ? (target.split('/')[1] ?? '') : target
    return { file, from, to, target, typeOnly }
  })
}

/** Exported so that the rule itself is tested on edges that must be refused. */
function isAllowed({ from, to, typeOnly }: Pick<Edge, 'from' | 'to'> & Partial<Edge>): boolean {
  if (from === to) return true
  // A port may speak of a stream of Node's; it may not run one.
  if (from === 'ports' && to === 'node') return typeOnly === true
  const allowed = mayImport[from]
  if (allowed === undefined) return false
  const ourFolder = to in mayImport
  if (ourFolder && closedTo[to] !== undefined) return closedTo[to].includes(from)
  if (allowed.includes(to)) return true
  return allowed.includes('*') && (from !== 'adapters' || !ourFolder)
}

const production = sources('src').filter((f) => !f.endsWith('.test.ts'))

describe('who may import whom', () => {
  test('every edge of src is in the table', () => {
    const bad = production.flatMap(edges).filter((e) => !isAllowed(e))
    expect(bad.map((e) => `${e.file} imports ${e.to}`)).toEqual([])
  })

  test('the rule refuses what it must refuse', () => {
    for (const [from, to] of [
      ['core', 'node'],
      ['core', 'yaml'],
      ['config', 'node'],
      ['kubelet', 'adapters'],
      ['kubelet', 'criserver'],
      ['adapters', 'kubelet'],
      ['serve', 'kubelet'],
      ['cli', 'fakes'],
      ['stats', 'cli'],
      ['nowhere', 'core'],
    ] as const)
      expect(isAllowed({ from, to }), `${from} -> ${to}`).toBe(false)
    expect(isAllowed({ from: 'kubelet', to: 'core' })).toBe(true)
    expect(isAllowed({ from: 'cli', to: 'adapters' })).toBe(true)
  })

  test('the reader sees every form of import', () => {
    const text = edges('test/architecture.test.ts').map((e) => e.to)
    expect(text).toContain('node')
    expect(text).toContain('vitest')
  })

  test('ARCHITECTURE.md shows the same table', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
    for (const [folder, allowed] of Object.entries(mayImport)) {
      const row = page.split('\n').find((l) => l.startsWith(`| ${folder} |`))
      expect(row, `row of ${folder}`).toBeDefined()
      for (const name of allowed) expect(row).toContain(name === '*' ? 'everything' : name)
    }
  })
})

test('ports hold interfaces and no running code', () => {
  for (const file of production.filter((f) => f.startsWith('src/ports/'))) {
    const text = readFileSync(join(root, file), 'utf8')
    expect(text, file).not.toMatch(/^export (const|let|function|class|async)/m)
  }
})

describe('decisions are pure: core, config and every decide folder', () => {
  const pure = production.filter((f) => /^src\/(core|config)\/|\/decide\//.test(f))

  test('no clock, environment or randomness', () => {
    for (const file of pure) {
      const text = codeOf(file)
      expect(text, file).not.toMatch(/\bDate\.now\(|new Date\(\)|performance\.now|process\.|Math\.random/)
    }
  })

  test('no Node, and of other people only the YAML parser of config', () => {
    const bad = pure
      .flatMap(edges)
      .filter((e) => !(e.to in mayImport) && !(e.from === 'config' && e.to === 'yaml'))
    expect(bad.map((e) => `${e.file} imports ${e.to}`)).toEqual([])
  })

  test('a decide folder takes nothing that acts, not even from its own feature', () => {
    const bad = pure
      .filter((f) => f.includes('/decide/'))
      .flatMap(edges)
      .filter((e) => !e.typeOnly && !['core', 'config'].includes(e.to) && !e.target.includes('/decide/'))
    expect(bad.map((e) => `${e.file} imports ${e.target}`)).toEqual([])
  })
})

test('no folder has more than 25 source files of its own', () => {
  /** Lists of units: each file is one entry, and its index.ts is the list. */
  const lists = ['src/doctor/checks']
  const count = new Map<string, number>()
  for (const file of production) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1)
  expect([...count].filter(([folder, n]) => n > 25 && !lists.includes(folder))).toEqual([])
})

test('every permission of the table is used', () => {
  const used = new Set(production.flatMap(edges).map((e) => `${e.from} ${e.to}`))
  const unused = Object.entries(mayImport).flatMap(([from, allowed]) =>
    allowed.filter((to) => to !== '*' && !used.has(`${from} ${to}`)).map((to) => `${from} ${to}`),
  )
  expect(unused).toEqual([])
})

test('features have time, environment and network from ports alone', () => {
  const folders = /^src\/(stats|memory-qos|serve|kubelet|criserver|doctor|bootstrap|top|up)\//
  const ambient =
    /\bDate\.now\(|new Date\(\)|performance\.now\(|setInterval\(|Math\.random\(|\bfetch\(|\bprocess\.(env|argv|exit|kill|on|once|pid|hrtime|cwd|stdout|stderr)\b/
  const bad = production.filter((f) => folders.test(f) && ambient.test(codeOf(f)))
  expect(bad).toEqual([])
})

test('no file is longer than 400 lines', () => {
  const long = ['src', 'test', 'bench', 'scripts', 'conformance']
    .flatMap(sources)
    .filter((f) => !/cri-api|fixtures|golden/.test(f))
    .filter((f) => readFileSync(join(root, f), 'utf8').split('\n').length > 401)
  expect(long).toEqual([])
})

test('no file speaks of any in our own code', () => {
  const bad = ['src', 'test', 'bench', 'scripts', 'conformance']
    .flatMap(sources)
    .filter((f) => !/cri-api|fixtures|(architecture|lint)\.test/.test(f))
    .filter(
      (f) =>
        /\bas any\b|: any\b|<any>/.test(codeOf(f)) ||
        /@ts-(ignore|expect-error|nocheck)/.test(readFileSync(join(root, f), 'utf8')),
    )
  expect(bad).toEqual([])
})

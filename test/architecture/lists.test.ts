// A list of units is what runs. Each file of a folder of units is in the list, the list is reached from the program, and
// CONTRIBUTING.md says where the list is.
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, isTest, reachedFrom, root, sources, textOf } from './source-tree.js'

interface UnitList {
  /** As in the first column of CONTRIBUTING.md. */
  readonly kind: string
  readonly folders: readonly string[]
  /** Several: each process has its own. */
  readonly lists: readonly string[]
  /** The program that runs them. */
  readonly program: string
  /** Beside the units: their shape, and what they share. */
  readonly shared?: readonly string[]
  /** A unit is a folder, and this its file. */
  readonly unitFile?: string
}

const keelson = 'src/cli/main.ts'
const unitLists: readonly UnitList[] = [
  {
    kind: 'an endpoint',
    folders: ['src/serve/endpoints', 'src/criserver/endpoints'],
    lists: [
      'src/serve/common-endpoints.ts',
      'src/kubelet/http.ts',
      'src/criserver/http.ts',
      'src/cli/companion/http.ts',
    ],
    program: keelson,
  },
  {
    kind: 'a doctor check',
    folders: ['src/doctor/checks'],
    lists: ['src/doctor/checks/index.ts'],
    program: keelson,
  },
  {
    kind: 'a bootstrap phase',
    folders: ['src/bootstrap/phases'],
    lists: ['src/bootstrap/phases/index.ts'],
    program: keelson,
    shared: ['phase', 'select'],
  },
  {
    kind: 'an RPC that the CRI server answers or completes',
    folders: ['src/criserver/methods'],
    lists: ['src/criserver/methods/index.ts'],
    program: keelson,
    shared: ['method', 'completing', 'stream-pages'],
  },
  {
    kind: 'a step that every call through the CRI server takes',
    folders: ['src/criserver/steps'],
    lists: ['src/criserver/chain.ts'],
    program: keelson,
  },
  {
    kind: 'a collector',
    folders: ['src/stats/collectors'],
    lists: ['src/stats/collectors/index.ts'],
    program: keelson,
    // Of a network namespace and not of a cgroup: network.
    shared: ['amounts', 'collector', 'device', 'memory-v1', 'memory-v2', 'memory-values', 'network'],
  },
  {
    kind: 'a metric family',
    folders: ['src/stats/catalogue'],
    lists: ['src/stats/catalogue/index.ts'],
    program: keelson,
    shared: ['family', 'required'],
  },
  {
    kind: 'a page of the dashboard',
    folders: ['src/dashboard/views'],
    lists: ['src/dashboard/app.tsx'],
    program: 'src/dashboard/main.tsx',
    shared: [
      'columns',
      'events',
      'logs',
      'markdown',
      'memory-bar',
      'next',
      'pod-table',
      'pods',
      'scroll',
      'words',
    ],
  },
  {
    kind: 'a fuzz target',
    folders: ['test/fuzz/targets'],
    lists: ['test/fuzz/targets/index.ts'],
    program: 'test/fuzz/run.ts',
  },
  {
    kind: 'a vector suite',
    folders: ['test/vectors-runner/suites'],
    lists: ['test/vectors-runner/suites/index.ts'],
    program: 'test/vectors-runner/run.ts',
    unitFile: 'suite.ts',
  },
  {
    kind: 'a benchmark',
    folders: ['bench'],
    lists: ['bench/run.ts'],
    program: 'bench/run.ts',
    shared: [
      'bundle-for-lab',
      'descriptor-limit',
      'empty-runtime',
      'peers',
      'process-usage',
      'report',
      'run-in-node',
      'unit',
    ],
    unitFile: 'unit.ts',
  },
  {
    kind: 'a comparison with another project',
    folders: ['conformance/units'],
    lists: ['conformance/units/index.ts'],
    program: 'conformance/run.ts',
  },
]

const files = ['src', 'test', 'bench', 'conformance'].flatMap(sources)
const known = new Set(files)
const reached = new Map<string, ReadonlySet<string>>()
function reachedBy(program: string): ReadonlySet<string> {
  const found = reached.get(program) ?? reachedFrom(program, known)
  reached.set(program, found)
  return found
}
const stem = (file: string): string => basename(file).replace(/\.tsx?$/, '')

const unitsOf = ({ folders, lists, shared = [], unitFile }: UnitList): readonly string[] =>
  files.filter((file) => {
    if (isTest(file) || lists.includes(file)) return false
    if (folders.includes(dirname(file))) return !shared.includes(stem(file))
    return unitFile !== undefined && folders.includes(dirname(dirname(file))) && basename(file) === unitFile
  })

/** What a list runs: names that it imports to run, and uses below its imports. */
function ranBy(list: string): ReadonlySet<string> {
  const body = textOf(list).replace(/^import[\s\S]*?from '[^']*'$/gm, '')
  const uses = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(body)
  return new Set(
    importsOf(list, known)
      .filter((i) => !i.typeOnly && i.names.some(uses))
      .map((i) => i.target),
  )
}

describe.each(unitLists)('$kind', (kind) => {
  test('every unit of the folder is in a list', () => {
    const listed = new Set(kind.lists.flatMap((list) => [...ranBy(list)]))
    const units = unitsOf(kind)
    expect(units.length).toBeGreaterThan(0)
    expect(units.filter((unit) => !listed.has(unit))).toEqual([])
  })

  test('what is named as shared is there', () => {
    const there = new Set(files.filter((f) => kind.folders.includes(dirname(f))).map(stem))
    expect((kind.shared ?? []).filter((name) => !there.has(name))).toEqual([])
  })

  test('the program runs the list', () => {
    expect(kind.lists.filter((list) => !reachedBy(kind.program).has(list))).toEqual([])
  })

  test('CONTRIBUTING.md has a row with the folder and the list', () => {
    const row = textOf('CONTRIBUTING.md')
      .split('\n')
      .find((line) => line.startsWith(`| ${kind.kind} |`))
    expect(row, kind.kind).toBeDefined()
    for (const list of kind.lists)
      expect(row).toMatch(basename(list) === 'index.ts' ? /`(its )?index\.ts`|index\.ts/ : list)
    for (const folder of kind.folders) expect(row).toContain(folder)
  })
})

describe('values in the lists', () => {
  const moduleOf = async (file: string): Promise<readonly unknown[]> =>
    Object.values((await import(join(root, file))) as Record<string, unknown>)
  /** A file may export several units, or a list of them. */
  const isListed = (exported: readonly unknown[], list: readonly unknown[]): boolean =>
    exported.some(
      (value) => list.includes(value) || (Array.isArray(value) && value.every((v) => list.includes(v))),
    )

  test.each([
    ['a doctor check', async () => (await import('../../src/doctor/checks/index.js')).checks],
    [
      'an RPC that the CRI server answers or completes',
      async () => (await import('../../src/criserver/methods/index.js')).methods,
    ],
    [
      'a bootstrap phase',
      async () => Object.values((await import('../../src/bootstrap/phases/index.js')).phasesOf).flat(),
    ],
    ['a fuzz target', async () => (await import('../fuzz/targets/index.js')).targets],
    ['a vector suite', async () => (await import('../vectors-runner/suites/index.js')).suites],
    [
      'a comparison with another project',
      async () => (await import('../../conformance/units/index.js')).units,
    ],
  ])('%s: the value itself', async (kind, load) => {
    const entry = unitLists.find((l) => l.kind === kind)
    expect(entry).toBeDefined()
    if (entry === undefined) return
    const list = await load()
    const missing: string[] = []
    for (const unit of unitsOf(entry)) if (!isListed(await moduleOf(unit), list)) missing.push(unit)
    expect(missing).toEqual([])
  })

  test('the endpoint of a unit is only built in the list of a process', () => {
    const { folders, lists } = unitLists[0] as UnitList
    const elsewhere = files
      .filter(
        (f) => f.startsWith('src/') && !isTest(f) && !lists.includes(f) && !folders.includes(dirname(f)),
      )
      .flatMap((f) =>
        importsOf(f, known)
          .filter((i) => !i.typeOnly && folders.includes(dirname(i.target)))
          .map((i) => `${f} imports ${i.target}`),
      )
    expect(elsewhere).toEqual([])
  })

  test('every command of src/cli is loaded by src/cli/commands.ts, under its own name', async () => {
    const { commands } = await import('../../src/cli/commands.js')
    const loaded = await Promise.all(commands.map((entry) => entry.load()))
    const units = files.filter(
      (f) => f.startsWith('src/cli/') && !isTest(f) && /^export (const|function) create\b/m.test(textOf(f)),
    )
    expect(units.length).toBe(commands.length)
    for (const unit of units) {
      const { create } = (await import(join(root, unit))) as { create: unknown }
      const at = loaded.findIndex((module) => module.create === create)
      expect(at, unit).toBeGreaterThanOrEqual(0)
      const name = basename(unit) === 'command.ts' ? basename(dirname(unit)) : stem(unit)
      expect(commands[at]?.name).toBe(name)
    }
  })
})

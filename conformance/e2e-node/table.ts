// The score in docs/conformance.md, made from the recorded results and the two lists of reasons.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place, RuntimeName } from '../node-environment/plan.js'
import { groupNames, groups } from './groups.js'
import { limitOf } from './limits.js'
import { type RecordedSpec, type Results, readResults, resultsPath } from './results.js'
import { groupWaitsFor, waitsFor } from './waits-for.js'

const rowNames = [...groupNames, 'standalone'] as const
const runtime: RuntimeName = 'containerd-2'
const page = join(import.meta.dirname, '../../docs/conformance.md')
const begin = '<!-- e2e-node score: written by npm run conformance -- e2e-node --record -->'
const end = '<!-- end of e2e-node score -->'

const entriesOf = (results: Results | undefined): [string, RecordedSpec][] =>
  Object.entries(results?.specs ?? {})

const passed = (results: Results | undefined, row: string): string => {
  const rows = entriesOf(results).filter(([, s]) => s.group === row)
  return rows.length === 0 ? '-' : String(rows.filter(([, s]) => s.outcome === 'passed').length)
}

const summaryOf = (row: (typeof rowNames)[number]): string =>
  row === 'standalone' ? 'static pods of a kubelet without an API server' : groups[row].summary

const inCell = (text: string): string => text.replaceAll('|', '\\|')

function formatMissing(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return []
  const lines = rows
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([n, why]) => `| ${inCell(n)} | ${inCell(why)} |`)
  return ['', title, '', '| spec | reason |', '|---|---|', ...lines]
}

const waitOfGroup = ({ group }: RecordedSpec): string | undefined =>
  group === 'standalone' ? undefined : groupWaitsFor[group]

/** Groups of which nothing can pass yet have one reason: a line, not a table of hundreds. */
function formatNotRun({ upstream, keelson }: Pair): string[] {
  const missing = entriesOf(upstream).filter(([name, s]) => {
    const outcome = keelson?.specs[name]?.outcome ?? 'not run'
    return s.outcome === 'passed' && outcome === 'not run'
  })
  const reasonOf = (s: RecordedSpec): string => waitOfGroup(s) ?? 'a recorded run'
  return [...new Set(missing.map(([, s]) => reasonOf(s)))].flatMap((reason) => {
    const specs = missing.filter(([, s]) => reasonOf(s) === reason)
    const names = [...new Set(specs.map(([, s]) => s.group))].join(', ')
    return [
      '',
      `Not run with Keelson: ${specs.length} specs that upstream passes, of ${names}. They wait for ${reason}.`,
    ]
  })
}

/** A run of both kubelets in one place. */
export interface Pair {
  readonly upstream: Results
  readonly keelson: Results | undefined
}

const isBehind = ({ upstream }: Pair, name: string, spec: RecordedSpec): boolean =>
  upstream.specs[name]?.outcome === 'passed' && spec.outcome !== 'passed' && spec.outcome !== 'not run'

const groupRows = ({ upstream, keelson }: Pair): string[] =>
  rowNames
    .map((row) => {
      const both = [...entriesOf(upstream), ...entriesOf(keelson)].filter(([, s]) => s.group === row)
      return { row, specs: new Set(both.map(([name]) => name)).size }
    })
    .filter(({ specs }) => specs > 0)
    .map(
      ({ row, specs }) =>
        `| ${row} | ${summaryOf(row)} | ${specs} | ${passed(upstream, row)} | ${passed(keelson, row)} |`,
    )

/** A run in the lab machine takes long: where only some of the specs were run, the cell says how many. */
function all(results: Results | undefined, specs: number): string {
  if (results === undefined) return '-'
  const run = entriesOf(results).filter(([, s]) => s.outcome !== 'not run').length
  const passes = entriesOf(results).filter(([, s]) => s.outcome === 'passed').length
  return run < specs ? `${passes} of ${run} run` : String(passes)
}

function machineRow({ upstream, keelson }: Pair): string {
  const specs = new Set([...entriesOf(upstream), ...entriesOf(keelson)].map(([name]) => name)).size
  return `| cgroup v2 | Memory QoS, in the ${upstream.machine} | ${specs} | ${all(upstream, specs)} | ${all(keelson, specs)} |`
}

export function formatTable(host: Pair, uml?: Pair): string {
  const pairs = uml === undefined ? [host] : [host, uml]
  const limited = pairs.flatMap(({ upstream }) =>
    entriesOf(upstream)
      .filter(([, s]) => s.outcome !== 'passed')
      .map(([name, s]) => [name, limitOf(name) ?? s.message ?? s.outcome] as const),
  )
  const behind = pairs.flatMap((pair) =>
    entriesOf(pair.keelson)
      .filter(([name, s]) => isBehind(pair, name, s))
      .map(([name, s]) => [name, waitsFor(name) ?? waitOfGroup(s) ?? s.message ?? s.outcome] as const),
  )
  const { upstream, keelson } = host
  return [
    begin,
    `${upstream.suite} on ${upstream.runtime}; ${upstream.machine}.`,
    '',
    `| group | what | specs | ${upstream.kubelet} passes | ${keelson?.kubelet ?? 'Keelson'} passes |`,
    '|---|---|---|---|---|',
    ...groupRows(host),
    ...(uml === undefined ? [] : [machineRow(uml)]),
    ...formatMissing('Not passed by the upstream kubelet here, each a limit of the environment:', limited),
    ...formatMissing('Passed by the upstream kubelet and not by Keelson:', behind),
    ...formatNotRun(host),
    end,
  ].join('\n')
}

export function replaceTable(text: string, table: string): string {
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error('docs/conformance.md has lost the marks of the score')
  return text.slice(0, from) + table + text.slice(to + end.length)
}

async function readPair(place: Place): Promise<Pair | undefined> {
  const upstream = await readResults(resultsPath('e2e-node', { kubelet: 'upstream', runtime, place }))
  if (upstream === undefined) return undefined
  const keelson = await readResults(resultsPath('e2e-node', { kubelet: 'keelson', runtime, place }))
  return { upstream, keelson }
}

/** The page as it should be; undefined without a recorded run of the upstream kubelet. */
export async function renderPage(): Promise<string | undefined> {
  const host = await readPair('host')
  if (host === undefined) return undefined
  return replaceTable(await readFile(page, 'utf8'), formatTable(host, await readPair('uml')))
}

export async function writeTable(): Promise<void> {
  const text = await renderPage()
  if (text !== undefined) await writeFile(page, text)
}

// The score of the cluster suite in docs/conformance.md, made from the recorded results and the lists of reasons.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Results, readResults, resultsPath } from '../e2e-node/results.js'
import type { RuntimeName } from '../node-environment/plan.js'
import { environmentLimitOf, keelsonLimitOf } from './limits.js'
import { sigOf } from './options.js'

const runtime: RuntimeName = 'containerd-2'
const page = join(import.meta.dirname, '../../docs/conformance.md')
const begin = '<!-- e2e score: written by npm run conformance -- e2e --record -->'
const end = '<!-- end of e2e score -->'

const namesOf = (results: Results | undefined): string[] => Object.keys(results?.specs ?? {})
const passes = (results: Results | undefined, name: string): boolean =>
  results?.specs[name]?.outcome === 'passed'

function scoreOf(results: Results | undefined, names: readonly string[]): string {
  const run = names.filter((name) => (results?.specs[name]?.outcome ?? 'not run') !== 'not run')
  return run.length === 0 ? '-' : String(run.filter((name) => passes(results, name)).length)
}

const inCell = (text: string): string => text.replaceAll('|', '\\|')

function listed(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return []
  const lines = rows.map(([name, why]) => `| ${inCell(name)} | ${inCell(why)} |`)
  return ['', title, '', '| spec | reason |', '|---|---|', ...lines]
}

export function formatScore(upstream: Results, keelson: Results | undefined): string {
  const names = [...new Set([...namesOf(upstream), ...namesOf(keelson)])].sort()
  const sigs = [...new Set(names.map(sigOf))].sort()
  const row = (title: string, some: readonly string[]): string =>
    `| ${title} | ${some.length} | ${scoreOf(upstream, some)} | ${scoreOf(keelson, some)} |`
  const reason = (results: Results | undefined, name: string): string =>
    results?.specs[name]?.message ?? results?.specs[name]?.outcome ?? 'not run'
  const limited = namesOf(upstream)
    .filter((name) => !passes(upstream, name))
    .map((name) => [name, environmentLimitOf(name) ?? reason(upstream, name)] as const)
  const behind = namesOf(keelson)
    .filter((name) => !passes(keelson, name) && passes(upstream, name))
    .map((name) => [name, keelsonLimitOf(name) ?? reason(keelson, name)] as const)
  return [
    begin,
    `${upstream.suite} on ${upstream.runtime}; ${upstream.machine}.`,
    '',
    `| group | specs | ${upstream.kubelet} passes | ${keelson?.kubelet ?? 'Keelson'} passes |`,
    '|---|---|---|---|',
    ...sigs.map((sig) =>
      row(
        `sig-${sig}`,
        names.filter((name) => sigOf(name) === sig),
      ),
    ),
    row('all', names),
    ...listed('Not passed by the upstream kubelet here, each a limit of the environment:', limited),
    ...listed('Passed by the upstream kubelet and not by Keelson:', behind),
    end,
  ].join('\n')
}

/** The page as it should be; undefined without a recorded run of the upstream kubelet. */
export async function renderPage(): Promise<string | undefined> {
  const upstream = await readResults(resultsPath('e2e', { kubelet: 'upstream', runtime }))
  if (upstream === undefined) return undefined
  const keelson = await readResults(resultsPath('e2e', { kubelet: 'keelson', runtime }))
  const text = await readFile(page, 'utf8')
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from < 0 || to < from) throw new Error('docs/conformance.md has lost the marks of the score of e2e')
  return text.slice(0, from) + formatScore(upstream, keelson) + text.slice(to + end.length)
}

export async function writeTable(): Promise<void> {
  const text = await renderPage()
  if (text !== undefined) await writeFile(page, text)
}

// Recorded results: one file per kubelet and runtime, one line per spec, so that a diff shows what changed.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place, RuntimeName } from '../node-environment/plan.js'
import type { KubeletName } from '../node-environment/programs.js'
import type { GroupName } from './groups.js'
import type { SpecResult } from './report.js'

export type RecordedSpec = SpecResult & { readonly group: GroupName | 'standalone' }

export interface Results {
  readonly suite: string
  readonly kubelet: string
  readonly runtime: string
  readonly machine: string
  readonly specs: Readonly<Record<string, RecordedSpec>>
}

const directory = join(import.meta.dirname, '..', 'results')

interface RunOf {
  readonly kubelet: KubeletName
  readonly runtime: RuntimeName
  readonly place?: Place
}

export function resultsPath(suite: 'e2e' | 'e2e-node', { kubelet, runtime, place = 'host' }: RunOf): string {
  const words = [suite, kubelet, runtime, ...(place === 'host' ? [] : [place])]
  return join(directory, `${words.join('-')}.json`)
}

export async function readResults(path: string): Promise<Results | undefined> {
  const text = await readFile(path, 'utf8').catch((e: unknown) => {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw e
  })
  return text === undefined ? undefined : (JSON.parse(text) as Results)
}

/** Specs of this run replace their former results; others stay. */
export const mergeResults = (old: Results | undefined, fresh: Results): Results => ({
  ...fresh,
  specs: { ...old?.specs, ...fresh.specs },
})

export function formatResults({ specs, ...facts }: Results): string {
  const head = JSON.stringify(facts, undefined, 2).slice(0, -2)
  const rows = Object.entries(specs)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, spec]) => `    ${JSON.stringify(name)}: ${JSON.stringify(spec)}`)
  return `${head},\n  "specs": {\n${rows.join(',\n')}\n  }\n}\n`
}

export async function writeResults(path: string, results: Results): Promise<void> {
  await mkdir(directory, { recursive: true })
  await writeFile(path, formatResults(results))
}

/** What changed since the recorded run, in words. */
export function compareResults(old: Results | undefined, fresh: Results): string[] {
  return Object.entries(fresh.specs).flatMap(([name, { outcome }]) => {
    const before = old?.specs[name]?.outcome
    return before === undefined || before === outcome ? [] : [`${before} -> ${outcome}: ${name}`]
  })
}

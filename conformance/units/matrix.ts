// Every client on every runtime, directly and through `keelson cri`, in every place: pairwise.
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { needsOf } from '../../src/lab/packages.js'
import { missingRequirement } from '../../test/support/requirements.js'
import type { CellPlan } from '../matrix/cell-plan.js'
import { allCells, type Cell, clients, keyOf, pairwiseCells, ways } from '../matrix/cells.js'
import { missingFor, runProgram } from '../matrix/environment.js'
import { isFinished, judged, keepResult, readResults, resultsFile } from '../matrix/results.js'
import { writePage } from '../matrix/table.js'
import { places, runtimes } from '../node-environment/plan.js'
import { inCache, insideKeelson, peersOf } from '../node-environment/programs.js'
import type { PeerName } from '../peers/catalogue.js'
import { type OptionValues, type Unit, type UnitContext, UsageError } from '../unit.js'

const CELL_MS = 10 * 60_000
const filters = { client: clients, runtime: runtimes, way: ways, place: places } as const
const filterNames = Object.keys(filters) as (keyof typeof filters)[]

/** All cells of the values that were named, or the covering ones. */
function chosenCells(options: OptionValues): readonly Cell[] {
  const cells = options.all === true ? allCells : pairwiseCells(allCells)
  return cells.filter((c) => filterNames.every((n) => options[n] === undefined || options[n] === c[n]))
}

const programsOf = (context: UnitContext): CellPlan['programs'] => ({
  kubelet: inCache(context.peer('kubelet')),
  keelson: insideKeelson,
  crictl: inCache(context.peer('crictl')),
  critest: inCache(context.peer('critest')),
})

const missingHere = ({ place, runtime }: Cell): string | undefined =>
  missingRequirement({
    root: true,
    packages: place === 'host' ? ['containerd'] : needsOf(place, true),
    commands: ['unshare', 'setpriv', 'ip'],
  }) ?? missingFor(runtime)

const fileOf = ({ options }: UnitContext): string => String(options.results ?? resultsFile)

async function runCell(context: UnitContext, cell: Cell): Promise<void> {
  const { keep } = context.options
  const argument: CellPlan = { ...cell, programs: programsOf(context) }
  const began = Date.now()
  const { checks, status, output } = await runProgram({
    place: cell.place,
    runtime: cell.runtime,
    program: join(import.meta.dirname, '../matrix/inside.ts'),
    argument,
    directory: await mkdtemp(join(tmpdir(), 'keelson-node-')),
    timeoutMs: CELL_MS,
    keep: keep === undefined ? undefined : join(String(keep), keyOf(cell).replaceAll(/\W+/g, '-')),
    peer: context.peer,
  })
  const seconds = Math.round((Date.now() - began) / 1000)
  const ended = {
    name: 'the cell came to its end',
    outcome: 'failed',
    seconds,
    reason: `status ${status}`,
  } as const
  const all = judged(cell, [...checks, ...(status === 0 && checks.length > 0 ? [] : [ended])])
  await keepResult(cell, { on: new Date().toISOString().slice(0, 10), seconds, checks: all }, fileOf(context))
  for (const { name, outcome, reason = '', values } of all) {
    const title = `${keyOf(cell)}: ${name}`
    if (outcome === 'not here') context.note(`     ${title}: ${reason.split('\n')[0]}`)
    else
      await context.check(title, async () => {
        if (outcome === 'failed') throw new Error(reason)
        if (values !== undefined) context.note(JSON.stringify(values))
      })
  }
  if (!isFinished({ on: '', seconds, checks: all })) context.note(output)
}

async function run(context: UnitContext): Promise<void> {
  const { keep, again, record } = context.options
  if (keep !== undefined) await mkdir(String(keep), { recursive: true })
  for (const cell of chosenCells(context.options)) {
    const missing = missingHere(cell)
    if (missing !== undefined) context.skip(keyOf(cell), missing)
    else if (again !== true && isFinished((await readResults(fileOf(context)))[keyOf(cell)]))
      context.note(`${keyOf(cell)}: finished in a run before`)
    else await runCell(context, cell)
  }
  if (record === true) await writePage()
}

const peers: readonly PeerName[] = [
  ...new Set<PeerName>(['kubelet', 'crictl', 'critest', ...Object.values(peersOf).flat()]),
]

export const matrix: Unit = {
  name: 'matrix',
  summary:
    'four clients on four runtimes, directly and through keelson cri, in three places: every pair of them',
  onlyByName: true,
  peers,
  options: {
    ...(Object.fromEntries(
      filterNames.map((n) => [n, { type: 'string', summary: `only ${filters[n].join(', ')}` }]),
    ) as Record<keyof typeof filters, { type: 'string'; summary: string }>),
    all: { type: 'boolean', summary: 'every cell, and not only a cover of all pairs' },
    again: { type: 'boolean', summary: 'also cells that have passed in a run before' },
    keep: { type: 'string', summary: 'directory for the logs of each cell' },
    results: { type: 'string', summary: 'file of results instead of the recorded one' },
    record: { type: 'boolean', summary: 'write the table of docs/conformance.md' },
  },
  checkOptions(options) {
    for (const name of filterNames) {
      const value = options[name]
      if (value !== undefined && !(filters[name] as readonly string[]).includes(String(value)))
        throw new UsageError(`--${name} ${String(value)}: use one of ${filters[name].join(', ')}`)
    }
  },
  run,
}

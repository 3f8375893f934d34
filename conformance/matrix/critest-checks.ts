// A cell whose client is critest, CRI's validation suite. Through the server it runs directly first: what passes there must
// pass through the server.
import { mkdir, readFile } from 'node:fs/promises'
import { compareRuns, formatRun } from '../critest/compare.js'
import { parseReport, type Spec, suiteFailures } from '../critest/report.js'
import { runCritest } from '../critest/run-critest.js'
import type { CellPlan } from './cell-plan.js'
import { check, directEndpoint, endProcess, out, serverEndpoint, startServer } from './node.js'

/** What the rows of the matrix are about: life of pods and containers, streams, logs, and values. */
const focus: Readonly<Record<CellPlan['place'], string>> = {
  host: 'basic operations|PodSandbox|Streaming|Container Mount|Container OOM|[Mm]etrics|stats',
  uml: 'Container runtime should support basic operations|Container OOM|[Mm]etrics',
  'uml-systemd': 'Container runtime should support basic operations|Container OOM|[Mm]etrics',
}
const timeoutMs = 4 * 60_000

async function run(plan: CellPlan, name: string, endpoint: string): Promise<Spec[]> {
  const tmp = '/run/critest'
  await mkdir(tmp, { recursive: true })
  const report = await runCritest({
    binary: plan.programs.critest,
    endpoint,
    out,
    name,
    tmp,
    timeoutMs,
    focus: focus[plan.place],
    attempts: 2,
  })
  const text = await readFile(report, 'utf8')
  const failures = suiteFailures(text)
  if (failures.length > 0) throw new Error(`critest could not begin: ${failures.join('; ')}`)
  return parseReport(text)
}

export async function runCritestCell(plan: CellPlan): Promise<void> {
  let direct: readonly Spec[] = []
  await check('critest directly', async () => {
    direct = await run(plan, 'direct', directEndpoint(plan.runtime))
    const { direct: counts } = compareRuns(direct, [], new Set())
    const failed = direct.filter((s) => s.outcome === 'failed').map((s) => s.name)
    return { specs: formatRun(counts), failed }
  })
  if (plan.way === 'directly') return
  const server = await startServer(plan.programs.keelson, plan.runtime)
  await check('critest through keelson cri', async () => {
    if (direct.length === 0) throw new Error('critest did not run directly')
    const through = await run(plan, 'through', serverEndpoint)
    const { lost, gained, through: counts } = compareRuns(direct, through, new Set())
    if (lost.length > 0) throw new Error(lost.map((l) => `${l.name}: ${l.message}`).join('\n'))
    return { specs: formatRun(counts), passesOnlyThere: gained }
  })
  await endProcess(server, 'SIGKILL')
}

// Kubernetes' cluster suite against a real control plane with one node. Without --focus it runs the Conformance specs of
// sig-node that need the API alone; they pass with every kubelet, and prove the control plane.
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterFlags, requireFreePort } from '../cluster/options.js'
import { insideAdmin } from '../cluster/plan.js'
import { missingForCluster, prepareCluster } from '../cluster/prepare.js'
import { clusterPeers, startCluster } from '../cluster/start-cluster.js'
import { environmentLimitOf, keelsonLimitOf } from '../e2e/limits.js'
import { chooseSpecs, defaultProcs, type E2eOptions, parseE2eOptions, sigs } from '../e2e/options.js'
import { writeTable } from '../e2e/table.js'
import { describeRun, followProgress } from '../e2e-node/describe-run.js'
import { listSpecs } from '../e2e-node/list-specs.js'
import { suiteFailures } from '../e2e-node/report.js'
import {
  compareResults,
  mergeResults,
  type Results,
  readResults,
  resultsPath,
  writeResults,
} from '../e2e-node/results.js'
import { focusArguments, type ListedSpec } from '../e2e-node/specs.js'
import { insideDirectory } from '../node-environment/plan.js'
import { inCache } from '../node-environment/programs.js'
import type { Unit, UnitContext } from '../unit.js'

const BASE_MS = 10 * 60_000
const SPEC_MS = 3 * 60_000

function suiteArguments(context: UnitContext, o: E2eOptions, specs: readonly ListedSpec[]): string[] {
  const out = join(insideDirectory, 'out')
  const path = (name: 'e2e' | 'ginkgo' | 'kubectl'): string => inCache(context.peer(name))
  return [
    path('ginkgo'),
    `--procs=${Math.min(o.procs, specs.length)}`,
    '--no-color',
    `--timeout=${Math.round(timeoutOf(o, specs) / 1000)}s`,
    '--json-report=report.json',
    `--output-dir=${out}`,
    ...focusArguments(specs),
    path('e2e'),
    '--',
    `--kubeconfig=${insideAdmin}`,
    '--provider=skeleton',
    `--kubectl-path=${path('kubectl')}`,
    `--report-dir=${out}`,
    '--minStartupPods=0', // nothing of the cluster itself runs as a pod
  ]
}

const timeoutOf = (o: E2eOptions, specs: readonly ListedSpec[]): number =>
  BASE_MS + (SPEC_MS * specs.length) / o.procs

async function runSpecs(context: UnitContext, o: E2eOptions, specs: readonly ListedSpec[]): Promise<string> {
  const { selection: _selection, procs: _procs, record: _record, keep, ...options } = o
  const cluster = await startCluster({
    ...(await prepareCluster(context, options)),
    argv: suiteArguments(context, o, specs),
    onOutput: followProgress(context.note),
  })
  // ginkgo ends itself at its deadline and still writes its report; what hangs beyond that is ended.
  const timer = setTimeout(() => void cluster.close().catch(() => {}), timeoutOf(o, specs) + BASE_MS)
  try {
    const status = await cluster.ended
    if (keep !== undefined)
      await cp(cluster.out, keep, {
        recursive: true,
        filter: (path) => !/\/(etcd|pki)$|\.(key|kubeconfig)$/.test(path),
      })
    return await readFile(join(cluster.out, 'report.json'), 'utf8').catch(() => {
      throw new Error(`the suite ended with status ${status} and wrote no report`)
    })
  } finally {
    clearTimeout(timer)
    await cluster.close()
  }
}

async function judge(context: UnitContext, o: E2eOptions, fresh: Results): Promise<void> {
  const path = resultsPath('e2e', o)
  const old = await readResults(path)
  for (const change of compareResults(old, fresh)) context.note(change)
  if (o.record) {
    await writeResults(path, mergeResults(old, fresh))
    await writeTable()
    context.note(`recorded in ${path}`)
  }
  const entries = Object.entries(fresh.specs)
  const count = (outcome: string): number => entries.filter(([, s]) => s.outcome === outcome).length
  context.note(['passed', 'failed', 'skipped', 'not run'].map((k) => `${count(k)} ${k}`).join(', '))
  await context.check(`${o.kubelet}: what does not pass is what the lists name`, async () => {
    const lines = entries.flatMap(([name, { outcome, message }]) => {
      const why = environmentLimitOf(name) ?? (o.kubelet === 'keelson' ? keelsonLimitOf(name) : undefined)
      if (outcome === 'passed') return why === undefined ? [] : [`listed, but passes: ${name}: ${why}`]
      return why === undefined ? [`${outcome}: ${name}: ${message ?? ''}`] : []
    })
    if (lines.length > 0) throw new Error(lines.join('\n'))
  })
}

async function run(context: UnitContext): Promise<void> {
  const o = parseE2eOptions(context.options)
  const list = await listSpecs(context.peer('e2e'), context.directory)
  const specs = chooseSpecs(list, o.selection)
  const found = await context.check('the selection has specs', async () => {
    if (specs.length === 0) throw new Error(`none of ${list.length} specs; see --sig and --focus`)
  })
  if (!found) return
  context.note(`${specs.length} of ${list.length} specs`)
  const started = Date.now()
  const report = await runSpecs(context, o, specs)
  context.note(`cluster and suite took ${Math.round((Date.now() - started) / 1000)} s`)
  for (const failure of suiteFailures(report)) context.note(failure)
  await judge(context, o, await describeRun('e2e', o, specs, report))
}

export const e2e: Unit = {
  name: 'e2e',
  summary: "Kubernetes' cluster suite (e2e.test) against a control plane with one node",
  onlyByName: true,
  peers: [...clusterPeers, 'e2e', 'ginkgo', 'kubectl'],
  options: {
    ...clusterFlags,
    sig: { type: 'string', summary: `all Conformance specs of ${sigs.join(', ')}; several with commas` },
    focus: {
      type: 'string',
      summary: 'specs whose names contain the text (default: the nine of sig-node that need the API alone)',
    },
    procs: { type: 'string', summary: `how many specs at once (default ${defaultProcs})` },
    keep: { type: 'string', summary: 'directory for the logs and the raw report' },
    record: { type: 'boolean', summary: 'write the results to conformance/results' },
  },
  checkOptions: async (options) => await requireFreePort(parseE2eOptions(options).port),
  missing: missingForCluster,
  run,
}

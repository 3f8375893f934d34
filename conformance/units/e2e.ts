// Kubernetes' cluster suite against a real control plane with one node. Without --focus it runs the Conformance specs of
// sig-node that need the API alone; they pass with every kubelet, and prove the control plane.
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ClusterOptions,
  clusterFlags,
  parseClusterOptions,
  requireFreePort,
} from '../cluster/options.js'
import { insideAdmin } from '../cluster/plan.js'
import { missingForCluster, prepareCluster } from '../cluster/prepare.js'
import { clusterPeers, startCluster } from '../cluster/start-cluster.js'
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
import { type OptionValues, type Unit, type UnitContext, UsageError } from '../unit.js'

const BASE_MS = 10 * 60_000
const SPEC_MS = 3 * 60_000
const PROCS = 4

const apiOnly = /^\[sig-node\] (PodTemplates |Lease |\[DRA\] CRUD Tests ).*\[Conformance\]/

export interface E2eOptions extends ClusterOptions {
  readonly focus: string | undefined
  readonly procs: number
  readonly record: boolean
  readonly keep: string | undefined
}

export function parseE2eOptions(given: OptionValues): E2eOptions {
  const text = (name: string): string | undefined => {
    const value = given[name]
    return typeof value === 'string' ? value : undefined
  }
  const procs = Number(text('procs') ?? PROCS)
  if (!Number.isInteger(procs) || procs < 1 || procs > 64)
    throw new UsageError(`--procs ${text('procs')}: give a number from 1 to 64`)
  if (text('focus') === '') throw new UsageError('--focus: give a text that names of specs contain')
  return {
    ...parseClusterOptions(given),
    focus: text('focus'),
    procs,
    record: given.record === true,
    keep: text('keep'),
  }
}

export const chooseSpecs = (list: readonly ListedSpec[], focus: string | undefined): ListedSpec[] =>
  list.filter(({ name }) => (focus === undefined ? apiOnly.test(name) : name.includes(focus)))

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
  const { focus: _focus, procs: _procs, record: _record, keep, ...options } = o
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
    context.note(`recorded in ${path}`)
  }
  for (const [name, { outcome, message }] of Object.entries(fresh.specs))
    await context.check(name, async () => {
      if (outcome !== 'passed') throw new Error(`${outcome}: ${message ?? ''}`)
    })
}

async function run(context: UnitContext): Promise<void> {
  const o = parseE2eOptions(context.options)
  const list = await listSpecs(context.peer('e2e'), context.directory)
  const specs = chooseSpecs(list, o.focus)
  const found = await context.check('the selection has specs', async () => {
    if (specs.length === 0)
      throw new Error(`none of ${list.length} specs contains ${JSON.stringify(o.focus)}`)
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
    focus: {
      type: 'string',
      summary: 'specs whose names contain the text (default: the nine of sig-node that need the API alone)',
    },
    procs: { type: 'string', summary: `how many specs at once (default ${PROCS})` },
    keep: { type: 'string', summary: 'directory for the logs and the raw report' },
    record: { type: 'boolean', summary: 'write the results to conformance/results' },
  },
  checkOptions: async (options) => await requireFreePort(parseE2eOptions(options).port),
  missing: missingForCluster,
  run,
}

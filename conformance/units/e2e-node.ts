// Kubernetes' own node suite against a kubelet, upstream's or Keelson's, in a node environment of private namespaces.
import { missingRequirement } from '../../test/support/requirements.js'
import { describeRun, followProgress } from '../e2e-node/describe-run.js'
import { groupNames } from '../e2e-node/groups.js'
import { limitOf } from '../e2e-node/limits.js'
import { listSpecs } from '../e2e-node/list-specs.js'
import { type E2eNodeOptions, parseOptions } from '../e2e-node/options.js'
import { suiteFailures } from '../e2e-node/report.js'
import {
  compareResults,
  mergeResults,
  type Results,
  readResults,
  resultsPath,
  writeResults,
} from '../e2e-node/results.js'
import { runSuite } from '../e2e-node/run-suite.js'
import { type ListedSpec, selectSpecs, sets } from '../e2e-node/specs.js'
import { writeTable } from '../e2e-node/table.js'
import { groupWaitsFor, waitsFor } from '../e2e-node/waits-for.js'
import { ensureSuiteImages, missingForImages } from '../images/ensure-images.js'
import { suitePlaces, suiteRuntimes } from '../node-environment/plan.js'
import { kubelets, runtimePeers } from '../node-environment/programs.js'
import type { Unit, UnitContext } from '../unit.js'

const BASE_MS = 15 * 60_000
const SPEC_MS = 60_000
const SERIAL_MS = 6 * 60_000
const UML_SLOWNESS = 3

/** Far above what a healthy run takes; it ends one that hangs. */
function timeoutOf(specs: readonly ListedSpec[], { place, procs }: E2eNodeOptions): number {
  const serial = specs.filter((s) => s.labels.includes('Serial')).length
  const ms = BASE_MS + serial * SERIAL_MS + ((specs.length - serial) * SPEC_MS) / procs
  return place === 'uml' ? ms * UML_SLOWNESS : ms
}

async function runOptions(context: UnitContext, o: E2eNodeOptions): Promise<void> {
  const list = await listSpecs(context.peer('e2e-node'), context.directory)
  const specs = selectSpecs(list, o.selection)
  const asked = await context.check('the selection has specs', async () => {
    if (specs.length === 0)
      throw new Error(`none of ${list.length} specs; see --group, --focus, --set and --shard`)
  })
  if (!asked) return
  context.note(`${specs.length} of ${list.length} specs`)
  const peers = { agnhost: context.peer('agnhost'), sampleDevicePlugin: context.peer('sample-device-plugin') }
  const images = await ensureSuiteImages(peers, context.note)
  const started = Date.now()
  const report = await runSuite({
    ...o,
    specs,
    images,
    peer: context.peer,
    onOutput: followProgress(context.note),
    leftovers: [context.directory],
    timeoutMs: timeoutOf(specs, o),
  })
  context.note(`the suite took ${Math.round((Date.now() - started) / 1000)} s`)
  for (const failure of suiteFailures(report)) context.note(failure)
  const fresh = await describeRun('e2e-node', o, specs, report)
  await judge(context, o, fresh)
}

async function judge(context: UnitContext, o: E2eNodeOptions, fresh: Results): Promise<void> {
  const entries = Object.entries(fresh.specs)
  const count = (outcome: string): number => entries.filter(([, s]) => s.outcome === outcome).length
  context.note(['passed', 'failed', 'skipped', 'not run'].map((k) => `${count(k)} ${k}`).join(', '))
  const path = resultsPath('e2e-node', o)
  const old = await readResults(path)
  for (const change of compareResults(old, fresh)) context.note(change)
  if (o.record) {
    await writeResults(path, mergeResults(old, fresh))
    await writeTable()
    context.note(`recorded in ${path}`)
  }
  await context.check(`${o.kubelet}: what does not pass is what the lists name`, async () => {
    const lines = entries.flatMap(([name, { group, outcome, message }]) => {
      const reason = limitOf(name) ?? (o.kubelet === 'keelson' ? waitsFor(name) : undefined)
      if (outcome === 'passed') return reason === undefined ? [] : [`listed, but passes: ${name}: ${reason}`]
      const groupWaits =
        o.kubelet === 'keelson' && group !== 'standalone' && groupWaitsFor[group] !== undefined
      return reason === undefined && !groupWaits ? [`${outcome}: ${name}: ${message ?? ''}`] : []
    })
    if (lines.length > 0) throw new Error(lines.join('\n'))
  })
}

export const e2eNode: Unit = {
  name: 'e2e-node',
  summary: "Kubernetes' node suite (e2e_node.test) with the upstream kubelet or Keelson",
  onlyByName: true,
  peers: ['kubelet', 'e2e-node', 'ginkgo', 'agnhost', 'sample-device-plugin', ...runtimePeers],
  options: {
    kubelet: { type: 'string', summary: `${kubelets.join(' or ')} (default keelson)` },
    group: { type: 'string', summary: `only specs of ${groupNames.join(', ')}` },
    set: {
      type: 'string',
      summary: `${sets.join(', ')} (default plain: NodeConformance without Serial, Slow, Disruptive, Flaky, Alpha, Beta, Feature; for the group pressure node-conformance)`,
    },
    focus: { type: 'string', summary: 'TEXT[|TEXT...]: only specs whose names contain one of them' },
    skip: { type: 'string', summary: 'TEXT[|TEXT...]: no specs whose names contain one of them' },
    shard: { type: 'string', summary: 'K/N: the K-th of N parts of the selection' },
    runtime: { type: 'string', summary: `${suiteRuntimes.join(' or ')} (default containerd-2)` },
    place: {
      type: 'string',
      summary: `${suitePlaces.join(' or ')} (default host); uml is a lab machine with cgroup v2`,
    },
    disk: {
      type: 'string',
      summary: 'GiB of a file system that the node has for itself (default: it shares that of this host)',
    },
    procs: { type: 'string', summary: 'how many specs at once (default 12; they mostly wait)' },
    keep: { type: 'string', summary: 'directory for the logs and the raw report' },
    record: { type: 'boolean', summary: 'write conformance/results and the table of docs/conformance.md' },
  },
  checkOptions: (options) => void parseOptions(options),
  missing: () =>
    missingRequirement({
      root: true,
      packages: ['containerd'],
      commands: ['unshare', 'setpriv', 'nice', 'mount', 'ip', 'tar'],
    }) ?? missingForImages(),
  run: async (context) => await runOptions(context, parseOptions(context.options)),
}

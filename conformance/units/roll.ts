// Pods rolled through Deployments on one node: created, updated, deleted; with the kubelet and the runtime killed meanwhile
// if that is asked for.
import { join } from 'node:path'
import { missingForCluster } from '../cluster/prepare.js'
import { keepFlag, runChecks } from '../cluster/run-checks.js'
import { clusterPeers } from '../cluster/start-cluster.js'
import { insideDirectory } from '../node-environment/plan.js'
import { type OptionValues, type Unit, type UnitContext, UsageError } from '../unit.js'

const CHECKS = 8

function numberOf(options: OptionValues, name: string, otherwise: number): number {
  const text = String(options[name] ?? otherwise)
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} ${text}: give a whole number`)
  return Number(text)
}

const settingsOf = (options: OptionValues) => ({
  command: join(insideDirectory, 'bin/kubelet'),
  pods: numberOf(options, 'pods', 200),
  kills: numberOf(options, 'kills', 0),
  runtimeKills: numberOf(options, 'runtime-kills', 0),
  seed: numberOf(options, 'seed', Math.floor(Math.random() * 1e9)),
})

async function run(context: UnitContext): Promise<void> {
  const settings = settingsOf(context.options)
  context.note(`--seed ${settings.seed}`)
  await runChecks(context, {
    program: join(import.meta.dirname, '..', 'roll', 'inside.ts'),
    args: [JSON.stringify(settings)],
    keep: context.options['keep'] === undefined ? undefined : String(context.options['keep']),
    checks: settings.kills + settings.runtimeKills > 0 ? CHECKS + 1 : CHECKS,
  })
}

export const rollUnit: Unit = {
  name: 'roll',
  summary: 'pods rolled through Deployments on one node, with kills of the kubelet and of the runtime',
  onlyByName: true,
  peers: clusterPeers,
  options: {
    pods: { type: 'string', summary: 'how many pods run at a time (default 200)' },
    kills: { type: 'string', summary: 'how often the kubelet is killed (default 0)' },
    'runtime-kills': { type: 'string', summary: 'how often containerd is killed (default 0)' },
    keep: keepFlag,
    seed: { type: 'string', summary: 'of the moments of the kills and of the load (default: a new one)' },
  },
  checkOptions: (options) => void settingsOf(options),
  missing: missingForCluster,
  run,
}

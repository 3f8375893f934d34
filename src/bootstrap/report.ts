// The result of a command as a plain object for -o json, and as lines for a person.
import { formatVersion } from '../core/release/version.js'
import { gateName } from './gate.js'
import type { ClusterChange } from './plan.js'
import { type NodeResult, plannedClusterChanges } from './run-phases.js'

export function reportValue(result: NodeResult, dryRun: boolean) {
  const { context, plan, outcome, recovery } = result
  const usesGate = plan.command !== 'reset'
  return {
    command: plan.command,
    kubernetesVersion: formatVersion(context.version),
    node: context.facts.nodeName,
    profile: context.request.profile,
    dryRun,
    ...(usesGate ? { gate: { name: gateName, on: context.gate.on, stage: context.gate.stage } } : {}),
    criSocket: { endpoint: context.socket.endpoint, from: context.socket.from },
    warnings: plan.warnings,
    notices: result.notices,
    preflight: result.preflight,
    ...(recovery === undefined ? {} : { recovered: { command: recovery.command, did: recovery.did } }),
    ...(outcome === undefined ? wouldDo(result) : { did: outcome }),
  }
}

const wouldDo = ({ plan }: NodeResult) => ({
  wouldWrite: Object.fromEntries(plan.writes.map((w) => [w.path, w.text])),
  wouldBackUp: plan.backUp,
  wouldDeleteContentsOf: plan.emptyDirectories,
  wouldRemove: plan.removeFiles,
  wouldChangeInCluster: plannedClusterChanges(plan),
})

export function reportText(result: NodeResult, dryRun: boolean): string {
  const { context, plan, outcome, recovery } = result
  const lines = [`keelson node ${plan.command}${dryRun ? ' (dry run: nothing is changed)' : ''}`]
  if (recovery !== undefined) lines.push(`an interrupted ${recovery.command} was ${recovery.did} first`)
  lines.push(`CRI socket: ${context.socket.endpoint} (${sourceWords[context.socket.from]})`)
  if (plan.command !== 'reset')
    lines.push(
      `${gateName}: ${context.gate.on ? 'on' : 'off'} (${context.gate.stage} in ${formatVersion(context.version)})`,
    )
  // An ordinary user sees which checks were skipped.
  const isHidden = (level: string): boolean =>
    level === 'ok' || (level === 'skipped' && context.facts.host.privileged !== false)
  for (const p of result.preflight)
    if (p.level === 'skipped' && !isHidden(p.level))
      lines.push(`preflight skipped: ${p.name}: ${p.message ?? ''}`)
    else if (!isHidden(p.level))
      lines.push(`preflight ${p.level}: ${p.name}: ${p.message ?? ''}; ${p.remedy ?? ''}`)
  for (const w of plan.warnings) lines.push(`warning: ${w.message} [${w.id}]`)
  for (const n of result.notices) lines.push(`note: ${n}`)
  if (outcome === undefined) {
    for (const path of plan.backUp) lines.push(`would back up ${path}`)
    for (const w of plan.writes) lines.push(`would write ${w.path}:`, indent(w.text ?? ''))
    for (const d of plan.emptyDirectories) lines.push(`would delete the contents of ${d}`)
    for (const f of plan.removeFiles) lines.push(`would remove ${f}`)
    lines.push(...plan.cluster.flatMap((c) => clusterLines('would change in the cluster', c)))
    return `${lines.join('\n')}\n`
  }
  for (const path of outcome.backups) lines.push(`backed up config.yaml to ${path}`)
  for (const path of outcome.written) lines.push(`wrote ${path}`)
  for (const path of outcome.unchanged) lines.push(`unchanged ${path}`)
  for (const d of outcome.emptied) lines.push(`deleted the contents of ${d}`)
  for (const c of outcome.clusterDone) lines.push(`done in the cluster: ${c}`)
  const left = plan.cluster.filter((c) => plannedWords(c, outcome.clusterLeft))
  lines.push(...left.flatMap((c) => clusterLines('still to do in the cluster', c)))
  if (plan.command.startsWith('upgrade') && outcome.written.length > 0)
    lines.push('restart the kubelet to apply the configuration: systemctl restart kubelet')
  return `${lines.join('\n')}\n`
}

const sourceWords = {
  flag: 'from --cri-socket',
  config: 'from the config file',
  'instance-config': 'from instance-config.yaml',
  annotation: "from the Node's annotation",
  'kubelet-flags': 'from kubeadm-flags.env',
  'kubelet-config': 'from config.yaml',
  detected: 'detected',
  default: 'the default',
} as const

const indent = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((l) => `    ${l}`)
    .join('\n')

const plannedWords = (change: ClusterChange, left: readonly string[]): boolean =>
  plannedClusterChanges({ cluster: [change] }).some((w) => left.includes(w))

function clusterLines(lead: string, change: ClusterChange): string[] {
  const [words = ''] = plannedClusterChanges({ cluster: [change] })
  const body = change.kind === 'config-map' ? Object.values(change.data).map(indent) : []
  return [`${lead}: ${words}`, ...body]
}

// One command of `keelson node` from request to report: settle what was interrupted, read facts, decide, plan,
// check, and, unless it is a dry run, carry out.
import type { NodePorts } from '../ports/bootstrap.js'
import { decideContext, type PhaseContext } from './context.js'
import { describeChange } from './execute/cluster-steps.js'
import { executePlan, type Outcome } from './execute/execute.js'
import { readJournal } from './execute/journal.js'
import { type Recovery, recover } from './execute/recover.js'
import { readNodeFacts } from './facts.js'
import type { Phase } from './phases/phase.js'
import { joinParts, type Plan } from './plan.js'
import {
  decidePreflight,
  type PreflightResult,
  readPreflightFacts,
  requirePreflight,
} from './preflight/run.js'
import type { NodeRequest } from './request.js'

export interface RunOptions {
  readonly phases: readonly Phase[]
  readonly dryRun: boolean
  readonly ignorePreflightErrors: readonly string[]
}

export interface NodeResult {
  readonly context: PhaseContext
  readonly plan: Plan
  readonly preflight: readonly PreflightResult[]
  readonly recovery: Recovery | undefined
  /** Undefined: a dry run. */
  readonly outcome: Outcome | undefined
  readonly notices: readonly string[]
}

export async function runNodeCommand(
  request: NodeRequest,
  options: RunOptions,
  ports: NodePorts,
): Promise<NodeResult> {
  const recovery = options.dryRun ? undefined : await recover(ports)
  const pending = options.dryRun && (await readJournal(ports.files)) !== undefined
  const needsSocket = options.phases.some((p) => p.usesSocket)
  const facts = await readNodeFacts(ports, {
    nodeName: request.nodeName ?? request.documents.node?.name,
    detect: needsSocket,
  })
  const context = decideContext(request, facts, needsSocket)
  const parts = options.phases.map((p) => p.plan?.(context) ?? {})
  const plan = joinParts(request.command, context.socket, [
    { warnings: [...context.gate.warnings, ...context.socket.warnings] },
    ...parts,
  ])
  const preflight = options.phases.some((p) => p.checks)
    ? decidePreflight(await readPreflightFacts(context, ports), options.ignorePreflightErrors)
    : []
  requirePreflight(preflight)
  const outcome = options.dryRun ? undefined : await executePlan(plan, facts, ports)
  const notices = [
    ...request.documents.notices,
    ...plan.notices,
    ...(recovery?.notices ?? []),
    ...(pending
      ? ['an interrupted change is pending; the next command that is no dry run settles it first']
      : []),
    ...(outcome?.notices ?? []),
  ]
  return { context, plan, preflight, recovery, outcome, notices }
}

/** What a dry run shows of the cluster. */
export const plannedClusterChanges = (plan: Pick<Plan, 'cluster'>): string[] =>
  plan.cluster.map(describeChange)

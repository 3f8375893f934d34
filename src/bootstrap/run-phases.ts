// One command of `keelson node` from request to report: settle what was interrupted, read facts, decide, plan,
// check, and, unless it is a dry run, carry out.
import { isKeelsonError } from '../core/errors.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { decideContext, type PhaseContext } from './context.js'
import { type DeniedFile, deniedNotices, tolerateDenied } from './denied-files.js'
import { describeChange } from './execute/cluster-steps.js'
import { executePlan, type Outcome } from './execute/execute.js'
import { readJournal } from './execute/journal.js'
import { type Recovery, recover } from './execute/recover.js'
import { readNodeFacts } from './facts.js'
import type { Phase } from './phases/phase.js'
import { joinParts, type Plan, type PlanPart } from './plan.js'
import {
  decidePreflight,
  type PreflightResult,
  readPreflightFacts,
  requirePreflight,
} from './preflight/run-preflight.js'
import type { NodeRequest } from './request.js'

interface RunOptions {
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
  given: NodePorts,
): Promise<NodeResult> {
  const { files, denied } = options.dryRun
    ? tolerateDenied(given.files)
    : { files: given.files, denied: [] as readonly DeniedFile[] }
  const ports = { ...given, files }
  const recovery = options.dryRun ? undefined : await recover(ports)
  const pending = options.dryRun && (await readJournal(ports.files)) !== undefined
  const needsSocket = options.phases.some((p) => p.usesSocket)
  const facts = await readNodeFacts(ports, {
    nodeName: request.nodeName ?? request.documents.node?.name,
    detect: needsSocket,
  })
  const isBlind = denied.length > 0
  const context =
    attempt(isBlind, () => decideContext(request, facts, needsSocket)) ?? decideContext(request, facts, false)
  const parts = options.phases.map((p) => attempt(isBlind, () => p.plan?.(context) ?? {}) ?? notShown(p))
  const plan = joinParts(request.command, context.socket, [
    { warnings: [...context.gate.warnings, ...context.socket.warnings] },
    ...parts,
  ])
  const preflight = options.phases.some((p) => p.checks)
    ? decidePreflight(await readPreflightFacts(context, options.dryRun, ports), options.ignorePreflightErrors)
    : []
  // An ordinary user may look at what would be done, with everything that speaks against it.
  const mayLook = options.dryRun && facts.host.privileged === false
  if (!mayLook) requirePreflight(preflight)
  const outcome = options.dryRun ? undefined : await executePlan(plan, facts, ports)
  const notices = [
    ...request.documents.notices,
    ...plan.notices,
    ...(recovery?.notices ?? []),
    ...(pending
      ? ['an interrupted change is pending; the next command without --dry-run completes or reverts it first']
      : []),
    ...(outcome?.notices ?? []),
    ...deniedNotices(denied),
  ]
  return { context, plan, preflight, recovery, outcome, notices }
}

/** What cannot be decided because files may not be read is left out; any other error is one. */
function attempt<T>(isBlind: boolean, work: () => T): T | undefined {
  try {
    return work()
  } catch (e) {
    if (!isBlind || !isKeelsonError(e)) throw e
    return undefined
  }
}

const notShown = ({ name }: Phase): PlanPart => ({
  notices: [`${name}: not shown: it needs files that this user may not read`],
})

/** What a dry run shows of the cluster. */
export const plannedClusterChanges = (plan: Pick<Plan, 'cluster'>): string[] =>
  plan.cluster.map(describeChange)

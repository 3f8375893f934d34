// Moves a node to another runtime endpoint and back again: checks, plan, the record of the way back, execution.
import { fail } from '../core/errors.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { normalizeEndpoint } from './cri-socket.js'
import { executePlan, type Outcome } from './execute/execute.js'
import { type Recovery, recover } from './execute/recover.js'
import { type NodeFacts, readNodeFacts } from './facts.js'
import { undoPath } from './paths.js'
import { annotate, joinParts, type Plan, type PlanPart } from './plan.js'
import { planUseSocket } from './plans/use-socket.js'
import {
  formatUndoRecord,
  isAsLeft,
  readUndoRecord,
  restore,
  type UndoEntry,
  undoneFiles,
} from './undo-record.js'
import type { Warning } from './warnings.js'

export interface UseSocketRequest {
  readonly nodeName: string | undefined
  readonly dryRun: boolean
  /** Goes on when nothing answers at the endpoint, or files changed since. */
  readonly force: boolean
  /** Stop the kubelet before and start it after. */
  readonly restart: boolean
}

export interface UseSocketResult {
  readonly endpoint: string
  readonly node: string
  readonly plan: Plan
  readonly outcome: Outcome | undefined
  readonly recovery: Recovery | undefined
}

export async function useSocket(
  url: string,
  request: UseSocketRequest,
  ports: NodePorts,
): Promise<UseSocketResult> {
  const { recovery, facts } = await begin(request, ports)
  const { endpoint, warnings } = normalizeEndpoint(url, facts.host.os, 'URL')
  if (!request.force) await requireAnswer(endpoint, ports)
  const part = planUseSocket(facts, endpoint)
  const entry = await undoEntry(part, facts, endpoint, ports)
  const { entries } = await readUndoRecord(ports)
  const record =
    entry.files.length === 0 ? [] : [{ path: undoPath, text: formatUndoRecord([...entries, entry]) }]
  return finish('use-socket', endpoint, request, ports, facts, recovery, warnings, {
    ...part,
    writes: [...(part.writes ?? []), ...record],
  })
}

export async function undoUseSocket(request: UseSocketRequest, ports: NodePorts): Promise<UseSocketResult> {
  const { recovery, facts } = await begin(request, ports)
  const { entries } = await readUndoRecord(ports)
  const last = entries.at(-1)
  if (last === undefined) throw fail('node.refused', 'undo use-socket: no change is recorded on this node')
  if (last.server !== undefined)
    throw fail(
      'node.refused',
      'undo use-socket: the last change is the CRI server in front of the runtime; take it out with keelson cri uninstall',
    )
  if (!request.force) await checkAsLeft(last, ports)
  return finish('use-socket --undo', last.endpoint, request, ports, facts, recovery, [], {
    writes: [...last.files.map(restore), { path: undoPath, text: formatUndoRecord(entries.slice(0, -1)) }],
    cluster: annotationBack(last),
  })
}

export const annotationBack = ({ annotation }: UndoEntry) =>
  annotation === undefined ? [] : [annotate(annotation.node, annotation.before)]

export async function requireAnswer(endpoint: string, ports: NodePorts): Promise<void> {
  if (await ports.sockets.answers(endpoint)) return
  throw fail(
    'node.refused',
    `use ${endpoint}: nothing answers there; start the runtime first, or give --force`,
    { endpoint },
  )
}

export async function begin(
  request: Pick<UseSocketRequest, 'dryRun' | 'nodeName'>,
  ports: NodePorts,
): Promise<{ readonly recovery: Recovery | undefined; readonly facts: NodeFacts }> {
  const recovery = request.dryRun ? undefined : await recover(ports)
  const facts = await readNodeFacts(ports, { nodeName: request.nodeName, detect: false })
  return { recovery, facts }
}

async function finish(
  command: string,
  endpoint: string,
  request: UseSocketRequest,
  ports: NodePorts,
  facts: NodeFacts,
  recovery: Recovery | undefined,
  warnings: readonly Warning[],
  part: PlanPart,
): Promise<UseSocketResult> {
  const restart = request.restart ? { kubelet: 'restart' as const } : {}
  const plan = joinParts(command, undefined, [{ warnings }, { ...part, ...restart }])
  const outcome = request.dryRun ? undefined : await executePlan(plan, facts, ports)
  return { endpoint, node: facts.nodeName, plan, outcome, recovery }
}

export async function undoEntry(
  part: PlanPart,
  facts: NodeFacts,
  endpoint: string,
  ports: NodePorts,
): Promise<UndoEntry> {
  const before = facts.cluster?.annotation
  const annotates = (part.cluster ?? []).length > 0 && before !== undefined
  return {
    endpoint,
    when: ports.now().toISOString(),
    files: await undoneFiles(part.writes ?? [], ports),
    ...(annotates ? { annotation: { node: facts.nodeName, before, after: endpoint } } : {}),
  }
}

/** Somebody else's later change would be lost without a word. */
async function checkAsLeft(entry: UndoEntry, ports: NodePorts): Promise<void> {
  for (const file of entry.files)
    if (!(await isAsLeft(file, ports)))
      throw fail(
        'node.refused',
        `undo use-socket ${entry.endpoint}: ${file.path} was changed since; look at it, or give --force`,
        {
          path: file.path,
        },
      )
}

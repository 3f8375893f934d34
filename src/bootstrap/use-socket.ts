// Switches a node to another runtime endpoint and back: checks, plan, undo record, execution.
import { isKeelsonError, keelsonError } from '../core/errors.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { normalizeEndpoint } from './cri-socket.js'
import { type DeniedFile, deniedNotices, tolerateDenied } from './denied-files.js'
import { executePlan, type Outcome } from './execute/execute.js'
import { type Recovery, recover } from './execute/recover.js'
import { type NodeFacts, readNodeFacts } from './facts.js'
import { instanceConfigPath, kubeletConfigPath, kubeletFlagsPath, undoPath } from './paths.js'
import { annotate, joinParts, type Plan, type PlanPart } from './plan.js'
import { planUseSocket } from './plans/use-socket.js'
import { winnerOf } from './status.js'
import {
  formatUndoRecord,
  isAsLeft,
  readUndoRecord,
  restore,
  type UndoEntry,
  undoneFiles,
} from './undo-record.js'
import type { Warning } from './warnings.js'
import { encodeText } from './yaml-text.js'

interface UseSocketRequest {
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
  given: NodePorts,
): Promise<UseSocketResult> {
  const { recovery, facts, ports, denied, mayLook } = await begin(request, given)
  const { endpoint, warnings } = normalizeEndpoint(url, facts.host.os, 'URL')
  const notices: string[] = []
  if (!request.force) await orNotice(mayLook, notices, () => requireAnswer(endpoint, ports))
  const part = await planKubelet(facts, endpoint, denied, mayLook, notices)
  const entry = await undoEntry(part, facts, endpoint, ports)
  const { entries } = await readUndoRecord(ports)
  const record =
    entry.files.length === 0 ? [] : [{ path: undoPath, text: formatUndoRecord([...entries, entry]) }]
  return finish('use-socket', endpoint, request, ports, facts, recovery, warnings, {
    ...part,
    writes: [...(part.writes ?? []), ...record],
    notices: [...(part.notices ?? []), ...notices, ...deniedNotices(denied)],
  })
}

export async function undoUseSocket(request: UseSocketRequest, given: NodePorts): Promise<UseSocketResult> {
  const { recovery, facts, ports, denied } = await begin(request, given)
  const { entries } = await readUndoRecord(ports)
  const last = entries.at(-1)
  if (last === undefined && denied.length > 0)
    return finish('use-socket --undo', '-', request, ports, facts, recovery, [], {
      notices: deniedNotices(denied),
    })
  if (last === undefined)
    throw keelsonError('node.refused', 'undo use-socket: no change is recorded on this node')
  if (last.server !== undefined)
    throw keelsonError(
      'node.refused',
      'undo use-socket: the last change is the CRI server in front of the runtime; remove it with keelson cri uninstall',
    )
  if (!request.force) await checkAsLeft(last, ports)
  const before = winnerOf(factsBefore(facts, last)).endpoint
  return finish('use-socket --undo', before, request, ports, facts, recovery, [], {
    writes: [...last.files.map(restore), { path: undoPath, text: formatUndoRecord(entries.slice(0, -1)) }],
    cluster: annotationBack(last),
    notices: deniedNotices(denied),
  })
}

/** The node's files before the change is reverted. */
function factsBefore(facts: NodeFacts, { files }: UndoEntry): NodeFacts {
  const before = (path: string, now: Uint8Array | undefined): Uint8Array | undefined => {
    const file = files.find((f) => f.path === path)
    return file === undefined ? now : file.before === null ? undefined : encodeText(file.before)
  }
  return {
    ...facts,
    instance: before(instanceConfigPath, facts.instance),
    config: before(kubeletConfigPath, facts.config),
    flags: before(kubeletFlagsPath, facts.flags),
  }
}

export const annotationBack = ({ annotation }: UndoEntry) =>
  annotation === undefined ? [] : [annotate(annotation.node, annotation.before)]

export async function requireAnswer(endpoint: string, ports: NodePorts): Promise<void> {
  if (await ports.sockets.answers(endpoint)) return
  if (await ports.sockets.isDenied(endpoint))
    throw keelsonError(
      'node.refused',
      `use ${endpoint}: this user may not open it, so it cannot check whether a runtime responds; run the command as root`,
      { endpoint },
    )
  throw keelsonError(
    'node.refused',
    `use ${endpoint}: no runtime responds there; start the runtime first, or use --force`,
    { endpoint },
  )
}

interface Begun {
  readonly recovery: Recovery | undefined
  readonly facts: NodeFacts
  /** To go on with: in a dry run files that this user may not read count as not there. */
  readonly ports: NodePorts
  readonly denied: readonly DeniedFile[]
  /** A dry run of an ordinary user, who may look at what would be done: what is in the way is said, not thrown. */
  readonly mayLook: boolean
}

export async function begin(
  request: Pick<UseSocketRequest, 'dryRun' | 'nodeName'>,
  given: NodePorts,
): Promise<Begun> {
  const { files, denied } = request.dryRun ? tolerateDenied(given.files) : { files: given.files, denied: [] }
  const ports = { ...given, files }
  const recovery = request.dryRun ? undefined : await recover(ports)
  const facts = await readNodeFacts(ports, { nodeName: request.nodeName, detect: false })
  return { recovery, facts, ports, denied, mayLook: request.dryRun && facts.host.privileged === false }
}

/** Where the files may not be read, what would become of them is not shown. */
export async function planKubelet(
  facts: NodeFacts,
  endpoint: string,
  denied: readonly DeniedFile[],
  mayLook: boolean,
  notices: string[],
): Promise<PlanPart> {
  const isClosed = [instanceConfigPath, kubeletConfigPath, kubeletFlagsPath].some((path) =>
    denied.some((d) => d.path === path),
  )
  if (isClosed) {
    notices.push('changes of the kubelet files are not shown: this user may not read them')
    return {}
  }
  return (await orNotice(mayLook, notices, async () => planUseSocket(facts, endpoint))) ?? {}
}

/** Undefined: it failed, and a notice says why. */
export async function orNotice<T>(
  mayLook: boolean,
  notices: string[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work()
  } catch (e) {
    if (!mayLook || !isKeelsonError(e)) throw e
    notices.push(e.message)
    return undefined
  }
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

/** A later edit would be lost silently. */
async function checkAsLeft(entry: UndoEntry, ports: NodePorts): Promise<void> {
  for (const file of entry.files)
    if (!(await isAsLeft(file, ports)))
      throw keelsonError(
        'node.refused',
        `undo use-socket ${entry.endpoint}: ${file.path} was edited since then; check it, or use --force`,
        {
          path: file.path,
        },
      )
}

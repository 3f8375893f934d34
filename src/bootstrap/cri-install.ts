// Puts the CRI server between the kubelet and the runtime of a node, and takes it out again byte for byte. One change, one
// journal: the server answers before the kubelet is sent to it, and ends only after the kubelet has left it.
import type { ValuesMode } from '../core/cri/values-mode.js'
import { keelsonError } from '../core/errors.js'
import { isSameSocket } from '../doctor/socket-places.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { normalizeEndpoint } from './cri-socket.js'
import { formatCriUnit } from './cri-unit.js'
import { deniedNotices } from './denied-files.js'
import { executePlan, type Outcome } from './execute/execute.js'
import type { Recovery } from './execute/recover.js'
import type { NodeFacts } from './facts.js'
import { crictlPath, criUnit, stateDirectory, undoPath } from './paths.js'
import { joinParts, type Plan, type PlanPart } from './plan.js'
import { planCriInstall } from './plans/cri-install.js'
import { winnerOf } from './status.js'
import {
  formatUndoRecord,
  type InstalledServer,
  missingDirectories,
  readUndoRecord,
  textNow,
  type UndoEntry,
} from './undo-record.js'
import { begin, orNotice, planKubelet, requireAnswer, undoEntry } from './use-socket.js'

interface CriInstallRequest {
  readonly nodeName: string | undefined
  readonly dryRun: boolean
  /** Goes on when nothing answers where something should. */
  readonly force: boolean
  /** Not given: what the kubelet uses now. */
  readonly upstream: string | undefined
  readonly listen: string
  readonly mode: 'complete' | 'observe'
  readonly values: ValuesMode
  readonly program: readonly string[]
}

export interface CriChangeResult {
  readonly node: string
  /** Undefined: there is no server to take out. */
  readonly server: InstalledServer | undefined
  readonly plan: Plan
  readonly outcome: Outcome | undefined
  readonly recovery: Recovery | undefined
}

/** The entry of the server, which must be the newest: what came after it builds on it. */
export function installedEntry(entries: readonly UndoEntry[], what: string): UndoEntry | undefined {
  const at = entries.findLastIndex((e) => e.server !== undefined)
  if (at >= 0 && at < entries.length - 1)
    throw keelsonError(
      'node.refused',
      `${what}: the node was switched to ${entries.at(-1)?.endpoint} after the server was installed; undo that first with keelson node use-socket --undo`,
    )
  return entries[at]
}

export async function installCri(request: CriInstallRequest, given: NodePorts): Promise<CriChangeResult> {
  const { recovery, facts, ports, denied, mayLook } = await begin(request, given)
  const notices: string[] = []
  const record = await readUndoRecord(ports)
  const known = installedEntry(record.entries, 'cri install')
  const { server, warnings } = await decideServer(request, facts, known?.server, ports)
  await orNotice(mayLook, notices, () => checkPlaces(request, server, facts, ports))
  const texts = {
    unit: formatCriUnit({
      program: request.program,
      upstream: server.upstream,
      listen: server.listen,
      mode: request.mode,
      values: request.values,
    }),
    crictl: await textNow(ports, { path: crictlPath }),
  }
  const kubelet = await planKubelet(facts, server.listen, denied, mayLook, notices)
  const part = planCriInstall(kubelet, server, texts)
  const entry = mergeEntries(known, {
    ...(await undoEntry(part, facts, server.listen, ports)),
    server,
    directories: await missingDirectories([undoPath, ...(part.writes ?? []).map((w) => w.path)], ports),
  })
  const entries = [...record.entries.filter((e) => e !== known), entry]
  const plan = joinParts('cri install', undefined, [
    { warnings },
    part,
    { writes: [{ path: undoPath, text: formatUndoRecord(entries), basedOn: record.text }] },
    { notices: [...(await otherFlag(server, part, ports)), ...notices, ...deniedNotices(denied)] },
  ])
  const outcome = request.dryRun ? undefined : await executePlan(plan, facts, ports)
  return { node: facts.nodeName, server, plan, outcome, recovery }
}

async function decideServer(
  request: CriInstallRequest,
  facts: NodeFacts,
  known: InstalledServer | undefined,
  ports: NodePorts,
): Promise<{ readonly server: InstalledServer; readonly warnings: Plan['warnings'] }> {
  const listen = normalizeEndpoint(request.listen, facts.host.os, '--listen')
  const now = winnerOf(facts).endpoint
  const previous = known?.previous ?? now
  const upstream = normalizeEndpoint(
    request.upstream ?? known?.upstream ?? now,
    facts.host.os,
    '--runtime-endpoint',
  )
  if (isSameSocket(upstream.endpoint, listen.endpoint))
    throw keelsonError(
      'usage.invalid',
      `cri install: ${listen.endpoint} would be in front of itself; name the runtime with --runtime-endpoint`,
    )
  return {
    server: {
      unit: criUnit,
      listen: listen.endpoint,
      upstream: upstream.endpoint,
      previous: isSameSocket(previous, listen.endpoint) ? upstream.endpoint : previous,
      wasActive:
        known?.wasActive ?? ((await ports.services.available()) && (await ports.services.isActive(criUnit))),
    },
    warnings: [...listen.warnings, ...upstream.warnings],
  }
}

/** Below another root nothing runs, so nothing is asked. */
async function checkPlaces(
  { force, dryRun }: CriInstallRequest,
  server: InstalledServer,
  facts: NodeFacts,
  ports: NodePorts,
): Promise<void> {
  if (force || facts.host.privileged === undefined) return
  await requireAnswer(server.upstream, ports)
  if (dryRun || (await ports.services.available())) return
  if (!(await ports.sockets.answers(server.listen)))
    throw keelsonError(
      'node.refused',
      `cri install: systemd is not running here; start keelson cri --runtime-endpoint ${server.upstream} --listen ${server.listen} first, or use --force`,
    )
}

/** Installing twice: uninstall still restores the files from before the first time. */
function mergeEntries(known: UndoEntry | undefined, fresh: UndoEntry): UndoEntry {
  if (known === undefined) return fresh
  const added = fresh.files.filter((f) => !known.files.some((k) => k.path === f.path))
  const kept = known.files.map((k) => {
    const again = fresh.files.find((f) => f.path === k.path)
    return again === undefined ? k : { ...k, after: again.after }
  })
  const annotation = known.annotation ?? fresh.annotation
  return {
    ...known,
    endpoint: fresh.endpoint,
    files: [...kept, ...added],
    ...(annotation === undefined ? {} : { annotation }),
    ...(fresh.server === undefined ? {} : { server: fresh.server }),
    directories: [...new Set([...(known.directories ?? []), ...(fresh.directories ?? [])])],
  }
}

/** A flag that comes from elsewhere than kubeadm-flags.env stays, and overrides config.yaml. */
async function otherFlag(
  { listen, previous }: InstalledServer,
  part: PlanPart,
  ports: NodePorts,
): Promise<string[]> {
  const words = (await ports.kubelet.runningArguments()) ?? []
  const flag = words.find((w) => w.startsWith('--container-runtime-endpoint'))
  if (flag === undefined || flag.includes(listen)) return []
  if ((part.writes ?? []).some((w) => w.path.endsWith('/kubeadm-flags.env'))) return []
  return [
    `the running kubelet was started with ${flag}, which is not from kubeadm-flags.env and overrides config.yaml (now ${previous}); check /etc/default/kubelet and the drop-ins of its unit`,
  ]
}

/** Of the state directory, too, when the record was all that it held. */
export const directoriesOf = (entry: UndoEntry, isLast: boolean): readonly string[] =>
  (entry.directories ?? []).filter((d) => isLast || !stateDirectory.startsWith(d))

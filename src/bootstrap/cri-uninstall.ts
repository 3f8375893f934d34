// Removes the CRI server: every file is restored byte for byte, unless it was edited.
import { keelsonError } from '../core/errors.js'
import type { NodePorts } from '../ports/bootstrap.js'
import { type CriChangeResult, directoriesOf, installedEntry } from './cri-install.js'
import { deniedNotices } from './denied-files.js'
import { executePlan } from './execute/execute.js'
import type { NodeFacts } from './facts.js'
import { crictlPath, criUnitPath, criWantsPath, undoPath } from './paths.js'
import { type FileWrite, joinParts, type PlanPart } from './plan.js'
import { crictlWithout, kubeletFiles } from './plans/cri-install.js'
import { planUseSocket } from './plans/use-socket.js'
import {
  formatUndoRecord,
  type InstalledServer,
  isAsLeft,
  readUndoRecord,
  restore,
  textNow,
  type UndoEntry,
  type UndoneFile,
} from './undo-record.js'
import { annotationBack, begin } from './use-socket.js'

interface CriUninstallRequest {
  readonly nodeName: string | undefined
  readonly dryRun: boolean
  /** Also removes an edited unit file. */
  readonly force: boolean
}

export async function uninstallCri(request: CriUninstallRequest, given: NodePorts): Promise<CriChangeResult> {
  const { recovery, facts, ports, denied } = await begin(request, given)
  const record = await readUndoRecord(ports)
  const entry = installedEntry(record.entries, 'cri uninstall')
  const server = entry?.server
  if (entry === undefined || server === undefined)
    return {
      node: facts.nodeName,
      server,
      plan: joinParts('cri uninstall', undefined, [{ notices: deniedNotices(denied) }]),
      outcome: undefined,
      recovery,
    }
  const rest = record.entries.filter((e) => e !== entry)
  const plan = joinParts('cri uninstall', undefined, [
    await kubeletBack(entry, server, facts, ports),
    await toolsBack(entry, server, ports),
    await unitBack(entry, request.force, ports),
    {
      writes: [{ path: undoPath, text: formatUndoRecord(rest), basedOn: record.text }],
      server: {
        unit: server.unit,
        put: false,
        paths: [criUnitPath, criWantsPath],
        endpoint: server.listen,
        wasActive: server.wasActive,
      },
      removeDirectories: directoriesOf(entry, rest.length === 0),
      notices: (await ports.sockets.answers(server.previous))
        ? []
        : [`no runtime responds at ${server.previous}, which the kubelet uses now`],
    },
  ])
  const outcome = request.dryRun ? undefined : await executePlan(plan, facts, ports)
  return { node: facts.nodeName, server, plan, outcome, recovery }
}

const among = (entry: UndoEntry, paths: readonly string[]): UndoneFile[] =>
  entry.files.filter((f) => paths.includes(f.path))

async function changedSince(files: readonly UndoneFile[], ports: NodePorts): Promise<string[]> {
  const left = await Promise.all(files.map((f) => isAsLeft(f, ports)))
  return files.filter((_, i) => !left[i]).map((f) => f.path)
}

/** An upgrade writes config.yaml anew: its text stays then, and only the endpoint goes back. */
async function kubeletBack(
  entry: UndoEntry,
  server: InstalledServer,
  facts: NodeFacts,
  ports: NodePorts,
): Promise<PlanPart> {
  const files = among(entry, kubeletFiles)
  const changed = await changedSince(files, ports)
  if (changed.length === 0) return { writes: files.map(restore), cluster: annotationBack(entry) }
  if (facts.config === undefined)
    return { notices: ['the kubelet configuration no longer exists, so it was not restored'] }
  const part = planUseSocket(facts, server.previous)
  const notice = `edited after the installation: ${changed.join(', ')}; only the endpoint was restored there`
  return { ...part, notices: [...(part.notices ?? []), notice] }
}

async function toolsBack(entry: UndoEntry, server: InstalledServer, ports: NodePorts): Promise<PlanPart> {
  const [file] = among(entry, [crictlPath])
  if (file === undefined) return {}
  const now = await textNow(ports, { path: crictlPath })
  if (now === file.after) return { writes: [{ ...restore(file), basedOn: now }] }
  // Already removed: nothing to restore.
  if (now === null) return {}
  return {
    writes: [crictlWithout(now, file, server)],
    notices: [`edited after the installation: ${crictlPath}; only the endpoints were restored there`],
  }
}

async function unitBack(entry: UndoEntry, force: boolean, ports: NodePorts): Promise<PlanPart> {
  const files = among(entry, [criWantsPath, criUnitPath])
  const writes: FileWrite[] = []
  for (const file of files) {
    const now = await textNow(ports, file)
    if (now !== file.after && now !== null && !force)
      throw keelsonError(
        'node.refused',
        `cri uninstall: ${file.path} was edited after the installation; check it, or use --force`,
        { path: file.path },
      )
    writes.push({ ...restore(file), basedOn: now })
  }
  // The link goes before what it leads to.
  return { writes: writes.sort((a) => (a.link === true ? -1 : 1)) }
}

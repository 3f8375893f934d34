// Carries out a plan. Order: everything that can be refused first, then the journal, then one rename after the
// other, then the cluster. A failure on the way is undone; a power cut is settled by the next command.
import { keelsonError, messageOf } from '../../core/errors.js'
import type { NodePorts } from '../../ports/bootstrap.js'
import type { NodeFacts } from '../facts.js'
import {
  directoryMode,
  instanceConfigPath,
  kubeletConfigPath,
  kubeletFlagsPath,
  lockPath,
  stateDirectory,
} from '../paths.js'
import type { Plan } from '../plan.js'
import { encodeText } from '../yaml-text.js'
import { backUpFiles } from './back-up.js'
import { describeChange, neededSteps, runStep } from './cluster-steps.js'
import { emptyDirectories, holdsState, removeDirectories, resolveToEmpty } from './empty-directories.js'
import { type ClusterStep, type FileChange, type Journal, removeJournal, writeJournal } from './journal.js'
import { commitStaged, isSameBytes, makeWayTo, readNow, stage } from './replace.js'
import { finishServer, startServer } from './server-steps.js'
import { undo } from './undo.js'

export interface Outcome {
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  readonly backups: readonly string[]
  readonly emptied: readonly string[]
  readonly removed: readonly string[]
  /** Changes made in the cluster, and those that are still to do. */
  readonly clusterDone: readonly string[]
  readonly clusterLeft: readonly string[]
  readonly notices: readonly string[]
}

export async function executePlan(plan: Plan, facts: NodeFacts, ports: NodePorts): Promise<Outcome> {
  const { files } = ports
  const empty = (await Promise.all(plan.emptyDirectories.map((p) => resolveToEmpty(files, p)))).filter(
    (p): p is string => p !== undefined,
  )
  const created = [...(await files.makeDirectory(stateDirectory, directoryMode))]
  try {
    const release = await files.lock(lockPath)
    let outcome: Outcome
    try {
      await checkUnchanged(facts, plan, ports)
      outcome = await underLock(plan, facts, ports, empty, created)
    } finally {
      await release()
    }
    // The lock and the journal were in it.
    await removeDirectories(files, plan.removeDirectories.filter(holdsState))
    return outcome
  } catch (e) {
    for (const path of created.toReversed()) await files.removeEmptyDirectory(path).catch(() => undefined)
    throw e
  }
}

async function underLock(
  plan: Plan,
  facts: NodeFacts,
  ports: NodePorts,
  empty: readonly string[],
  created: string[],
): Promise<Outcome> {
  const { files, kubelet } = ports
  const changes = await fileChanges(plan, ports)
  const needed =
    ports.cluster === undefined
      ? { steps: [], waiting: plan.cluster }
      : await neededSteps(ports.cluster, plan.cluster)
  const journal: Journal = {
    command: plan.command,
    started: ports.now().toISOString(),
    direction: 'forward',
    files: changes,
    cluster: needed.steps,
    emptyDirectories: empty,
    removeFiles: plan.removeFiles,
    ...(plan.server === undefined ? {} : { server: plan.server }),
    removeDirectories: plan.removeDirectories,
  }
  const { server } = plan
  const early = server?.put === true ? changes.filter((c) => server.paths.includes(c.path)) : []
  const backups: string[] = []
  const notices: string[] = []
  const ran: ClusterStep[] = []
  let stopped = false
  try {
    for (const { path } of changes) created.push(...(await makeWayTo(files, path)))
    await backUpFiles(plan.backUp, facts, ports, backups, created)
    for (const c of changes) await stage(files, c, c.after)
    if (plan.kubelet !== undefined && (changes.length > 0 || empty.length > 0)) stopped = await kubelet.stop()
    // Before the journal: once it is written a deletion will be finished, so nothing may still be mounted below.
    if (plan.removePods) notices.push(...(await clearNode(plan, ports, empty)))
    if (isWork(journal)) await writeJournal(files, journal)
    for (const c of early) await commitStaged(files, c, c.after)
    if (server?.put === true) notices.push(...(await startServer(server, early.length > 0, ports)))
    for (const c of changes) if (!early.includes(c)) await commitStaged(files, c, c.after)
    await emptyDirectories(files, empty)
    for (const path of plan.removeFiles) await files.remove(path)
    for (const step of needed.steps) {
      ran.push(step)
      if (ports.cluster !== undefined) await runStep(ports.cluster, step.change)
    }
    if (server !== undefined && changes.length > 0) notices.push(...(await finishServer(server, ports)))
    await removeDirectories(
      files,
      plan.removeDirectories.filter((d) => !holdsState(d)),
    )
    await removeJournal(files)
  } catch (e) {
    await undo(journal, ran, backups, ports)
    if (stopped && plan.kubelet === 'restart') await kubelet.start().catch(() => false)
    throw e
  }
  if (plan.kubelet === 'restart') await kubelet.start()
  return {
    written: changes.map((c) => c.path),
    unchanged: plan.writes.map((w) => w.path).filter((p) => !changes.some((c) => c.path === p)),
    backups,
    emptied: plan.emptyDirectories,
    removed: plan.removeFiles,
    clusterDone: needed.steps.map((s) => describeChange(s.change)),
    clusterLeft: needed.waiting.map(describeChange),
    notices,
  }
}

const isWork = (j: Journal): boolean =>
  j.files.length + j.cluster.length + j.emptyDirectories.length + j.removeFiles.length > 0

/** Pods and mounts go before the directory that holds them; a mount that stays must stop the deletion. */
async function clearNode(plan: Plan, ports: NodePorts, empty: readonly string[]): Promise<string[]> {
  const notices: string[] = []
  for (const path of empty) {
    const unmounted = await ports.mounts.unmountBelow(path)
    if (unmounted.length > 0) notices.push(`unmounted ${unmounted.join(', ')}`)
  }
  if (plan.socket === undefined) return notices
  try {
    const { removed, problems } = await ports.runtime.removePods(plan.socket.endpoint)
    if (removed > 0) notices.push(`removed ${removed} pods from ${plan.socket.endpoint}`)
    notices.push(...problems.map((p) => `failed to remove a pod: ${p}`))
  } catch (e) {
    const why = messageOf(e)
    notices.push(`pods were not removed from ${plan.socket.endpoint}: ${why}`)
  }
  return notices
}

const bytesNow = (facts: NodeFacts): Readonly<Record<string, Uint8Array | undefined>> => ({
  [instanceConfigPath]: facts.instance,
  [kubeletConfigPath]: facts.config,
  [kubeletFlagsPath]: facts.flags,
})

async function fileChanges(plan: Plan, { files }: NodePorts): Promise<FileChange[]> {
  const changes: FileChange[] = []
  for (const { path, text, link, mode, owner } of plan.writes) {
    const kind = link === true ? { link } : {}
    const before = await readNow(files, { path, ...kind })
    const after = text === undefined ? undefined : encodeText(text)
    if (isSameBytes(before, after)) continue
    const found = link === true ? undefined : await files.stat(path)
    const attributes =
      found !== undefined
        ? { mode: found.mode, owner: found.owner }
        : { ...(mode === undefined ? {} : { mode }), ...(owner === undefined ? {} : { owner }) }
    changes.push({ path, before, after, ...kind, ...attributes })
  }
  return changes
}

/** The plan was made before the lock was held. */
async function checkUnchanged(facts: NodeFacts, plan: Plan, { files }: NodePorts): Promise<void> {
  const refuse = (path: string) =>
    keelsonError(
      'node.busy',
      `${path} was changed by another process during planning; run the command again`,
      {
        path,
      },
    )
  for (const [path, before] of Object.entries(bytesNow(facts)))
    if (!isSameBytes(await files.read(path), before)) throw refuse(path)
  for (const write of plan.writes) {
    if (write.basedOn === undefined) continue
    const expected = write.basedOn === null ? undefined : encodeText(write.basedOn)
    if (!isSameBytes(await readNow(files, write), expected)) throw refuse(write.path)
  }
}

// Carries out a plan. Order: everything that can be refused first, then the journal, then one rename after the
// other, then the cluster. A failure on the way is undone; a power cut is settled by the next command.
import { fail } from '../../core/errors.js'
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
import { emptyDirectories, resolveToEmpty } from './empty-directories.js'
import { type ClusterStep, type FileChange, type Journal, removeJournal, writeJournal } from './journal.js'
import { commitStaged, isSameBytes, stage } from './replace.js'
import { undo } from './undo.js'

export interface Outcome {
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  readonly backups: readonly string[]
  readonly emptied: readonly string[]
  readonly removed: readonly string[]
  /** Changes made in the cluster, and those left for later or for somebody else. */
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
    try {
      await checkUnchanged(facts, ports)
      return await underLock(plan, facts, ports, empty, created)
    } finally {
      await release()
    }
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
  }
  const backups: string[] = []
  const notices: string[] = []
  const ran: ClusterStep[] = []
  let stopped = false
  try {
    for (const directory of new Set(changes.map((c) => c.path.slice(0, c.path.lastIndexOf('/')))))
      created.push(...(await files.makeDirectory(directory, directoryMode)))
    await backUpFiles(plan.backUp, facts, ports, backups, created)
    for (const c of changes) await stage(files, c.path, c.after)
    if (plan.kubelet !== undefined && (changes.length > 0 || empty.length > 0)) stopped = await kubelet.stop()
    // Before the journal: once it is written a deletion will be finished, so nothing may still be mounted below.
    if (plan.removePods) notices.push(...(await clearNode(plan, ports, empty)))
    if (isWork(journal)) await writeJournal(files, journal)
    for (const c of changes) await commitStaged(files, c.path, c.after)
    await emptyDirectories(files, empty)
    for (const path of plan.removeFiles) await files.remove(path)
    for (const step of needed.steps) {
      ran.push(step)
      if (ports.cluster !== undefined) await runStep(ports.cluster, step.change)
    }
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
  const [first] = empty
  const notices: string[] = []
  if (first !== undefined) {
    const unmounted = await ports.mounts.unmountBelow(first)
    if (unmounted.length > 0) notices.push(`unmounted ${unmounted.join(', ')}`)
  }
  if (plan.socket === undefined) return notices
  try {
    const { removed, problems } = await ports.runtime.removePods(plan.socket.endpoint)
    if (removed > 0) notices.push(`removed ${removed} pods from ${plan.socket.endpoint}`)
    notices.push(...problems.map((p) => `a pod could not be removed: ${p}`))
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
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
  for (const { path, text } of plan.writes) {
    const before = await files.read(path)
    const after = text === undefined ? undefined : encodeText(text)
    if (!isSameBytes(before, after)) changes.push({ path, before, after })
  }
  return changes
}

/** The plan was made before the lock was held. */
async function checkUnchanged(facts: NodeFacts, { files }: NodePorts): Promise<void> {
  for (const [path, before] of Object.entries(bytesNow(facts)))
    if (!isSameBytes(await files.read(path), before))
      throw fail(
        'node.busy',
        `${path} was changed by somebody else while this command was planning; run it again`,
        {
          path,
        },
      )
}

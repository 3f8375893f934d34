// What a command does first: finish a change that was interrupted, or go on undoing one that had failed.
import type { NodeFiles, NodePorts } from '../../ports/bootstrap.js'
import { directoryMode, lockPath, stateDirectory } from '../paths.js'
import { describeChange, neededSteps, runStep } from './cluster-steps.js'
import { emptyDirectories, removeDirectories } from './empty-directories.js'
import { type Journal, readJournal, removeJournal } from './journal.js'
import { dropStaged, isSameBytes, readNow, replaceNow } from './replace.js'
import { finishServer, startServer, takeServerBack } from './server-steps.js'

export interface Recovery {
  readonly command: string
  readonly did: 'finished' | 'undone'
  readonly notices: readonly string[]
}

/** Undefined: nothing was under way. */
export async function recover(ports: NodePorts): Promise<Recovery | undefined> {
  if ((await readJournal(ports.files)) === undefined) {
    await clearDeadLock(ports.files)
    return undefined
  }
  await ports.files.makeDirectory(stateDirectory, directoryMode)
  const release = await ports.files.lock(lockPath)
  let journal: Journal | undefined
  let recovery: Recovery | undefined
  try {
    journal = await readJournal(ports.files)
    recovery = journal === undefined ? undefined : await settle(ports, journal)
  } finally {
    await release()
  }
  if (journal?.direction === 'forward') await removeDirectories(ports.files, journal.removeDirectories ?? [])
  return recovery
}

/** Killed as its very last step: taking the lock of a dead holder and letting go removes it. */
async function clearDeadLock(files: NodeFiles): Promise<void> {
  const found = (await files.list(stateDirectory)) ?? []
  if (!found.some((name) => `${stateDirectory}/${name}`.startsWith(lockPath))) return
  const release = await files.lock(lockPath).catch(() => undefined)
  await release?.()
}

async function settle(ports: NodePorts, journal: Journal): Promise<Recovery> {
  const { files } = ports
  const forward = journal.direction === 'forward'
  const notices: string[] = []
  for (const change of forward ? journal.files : journal.files.toReversed()) {
    const [from, to] = forward ? [change.before, change.after] : [change.after, change.before]
    const now = await readNow(files, change)
    if (isSameBytes(now, to)) continue
    if (isSameBytes(now, from)) await replaceNow(files, change, to)
    else notices.push(`${change.path} was changed by another process and is left unchanged`)
  }
  await dropStaged(files, journal.files)
  if (forward) {
    for (const path of journal.emptyDirectories) await ports.mounts.unmountBelow(path)
    await emptyDirectories(files, journal.emptyDirectories)
    for (const path of journal.removeFiles) await files.remove(path)
  }
  notices.push(...(await settleCluster(ports, journal)))
  notices.push(...(await settleServer(ports, journal)))
  await removeJournal(files)
  return { command: journal.command, did: forward ? 'finished' : 'undone', notices }
}

/** Whether it was started or stopped before the interruption is not known; doing it again does no harm. */
async function settleServer(ports: NodePorts, { server, direction }: Journal): Promise<string[]> {
  if (server === undefined) return []
  if (direction === 'back') {
    await takeServerBack(server, true, ports)
    return []
  }
  const started = server.put ? await startServer(server, true, ports) : []
  return [...started, ...(await finishServer(server, ports))]
}

async function settleCluster(
  { cluster }: NodePorts,
  { cluster: steps, direction }: Journal,
): Promise<string[]> {
  if (steps.length === 0) return []
  if (cluster === undefined)
    return direction === 'forward'
      ? steps.map(({ change }) => `no kubeconfig was set, so this is still to do: ${describeChange(change)}`)
      : []
  if (direction === 'forward') {
    const { steps: needed } = await neededSteps(
      cluster,
      steps.map((s) => s.change),
    )
    for (const { change } of needed) await runStep(cluster, change)
  } else for (const { before } of steps.toReversed()) await runStep(cluster, before)
  return []
}

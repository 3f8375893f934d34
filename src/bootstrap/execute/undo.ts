// Reverts a failed change as far as it went. What cannot be reverted now stays in the journal for later.
import type { NodePorts } from '../../ports/bootstrap.js'
import { runStep } from './cluster-steps.js'
import { type ClusterStep, type Journal, removeJournal, writeJournal } from './journal.js'
import { dropStaged, isSameBytes, readNow, replaceNow } from './replace.js'
import { takeServerBack } from './server-steps.js'

export async function undo(
  journal: Journal,
  ran: readonly ClusterStep[],
  backups: readonly string[],
  ports: NodePorts,
): Promise<void> {
  const { files, cluster } = ports
  // Deleted directories cannot come back: such a change can only be finished.
  if (journal.emptyDirectories.length + journal.removeFiles.length > 0) return
  try {
    const touched = []
    for (const c of journal.files) if (!isSameBytes(await readNow(files, c), c.before)) touched.push(c)
    if (touched.length > 0) await writeJournal(files, { ...journal, direction: 'back' })
    for (const c of touched.toReversed()) await replaceNow(files, c, c.before)
    if (cluster !== undefined)
      for (const s of ran.toReversed()) await runStep(cluster, s.before).catch(() => undefined)
    await dropStaged(files, journal.files)
    for (const path of backups) {
      await files.remove(path)
      await files.removeEmptyDirectory(path.slice(0, path.lastIndexOf('/')))
    }
    const { server } = journal
    const moved = touched.some((c) => server?.paths.includes(c.path) === false)
    if (server !== undefined && touched.length > 0) await takeServerBack(server, moved, ports)
    await removeJournal(files)
  } catch {
    // The first error is the one to report; the journal has the rest for the next command.
  }
}

// Removes orphaned resources of this kubelet's pods: cgroups, directories and logs. Only pods with a record are considered:
// between its cgroup and its sandbox a pod of another kubelet looks just like an orphan.
import { asKeelsonError } from '../../../core/errors.js'
import { subPathsDirectory } from '../../volumes/paths.js'
import type { PodContext } from '../context.js'
import { isPodUid } from '../decide/owner.js'
import { podDirectory, podRecords } from '../to-cri/names.js'
import { removeLogLinks, removePodCgroups } from './prepare.js'

/** Uids of the pods whose resources were removed. */
export async function removeOrphans(
  c: PodContext,
  isKnown: (uid: string) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const records = podRecords(c.paths)
  const removed: string[] = []
  for (const uid of (await c.host.list(records)) ?? []) {
    if (!isPodUid(uid) || isKnown(uid)) continue
    try {
      await removePodCgroups(uid, c, signal)
      await c.host.removeTree(subPathsDirectory(c.paths, uid))
      await c.host.removeTree(podDirectory(c.paths, uid))
      for (const name of (await c.host.list(c.paths.podLogsDir)) ?? [])
        if (name.endsWith(`_${uid}`)) await c.host.removeTree(`${c.paths.podLogsDir}/${name}`)
      await removeLogLinks(c)
      await c.host.remove(`${records}/${uid}`)
      removed.push(uid)
    } catch (e) {
      signal.throwIfAborted()
      c.log.warn('failed to remove an orphaned pod resource', { uid, error: asKeelsonError(e) })
    }
  }
  if (removed.length > 0) c.log.info('removed orphaned pod resources', { uids: removed })
  return removed
}

// What pods have left behind that nobody knows any more: cgroups, directories and logs of static pods that neither run nor
// are wanted. Only what carries the uid of a static pod is touched.
import { asKeelsonError } from '../../core/errors.js'
import { isStaticUid } from './names.js'
import type { PodContext } from './ports.js'
import { removeLogLinks } from './prepare.js'

export async function removeOrphans(
  c: PodContext,
  isKnown: (uid: string) => boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const removed: string[] = []
  const attempt = async (what: string, remove: () => Promise<void>): Promise<void> => {
    try {
      await remove()
      removed.push(what)
    } catch (e) {
      signal.throwIfAborted()
      c.log.warn('something that a pod left behind stays', { what, error: asKeelsonError(e) })
    }
  }
  for (const { uid, path } of orphanCgroups(c))
    if (!isKnown(uid)) await attempt(path, () => c.cgroups.remove(path, { signal }))
  const pods = `${c.paths.rootDir}/pods`
  for (const uid of (await c.host.list(pods)) ?? [])
    if (isStaticUid(uid) && !isKnown(uid))
      await attempt(`${pods}/${uid}`, () => c.host.removeTree(`${pods}/${uid}`))
  for (const name of (await c.host.list(c.paths.podLogsDir)) ?? []) {
    const uid = name.slice(name.lastIndexOf('_') + 1)
    const path = `${c.paths.podLogsDir}/${name}`
    if (isStaticUid(uid) && !isKnown(uid)) await attempt(path, () => c.host.removeTree(path))
  }
  if (removed.length > 0) {
    await removeLogLinks(c)
    c.log.info('removed what earlier pods left behind', { paths: removed })
  }
  return removed
}

/** `pod0123` with cgroupfs, `kubepods-burstable-pod0123.slice` with systemd. */
const podCgroup = /(?:^|-)pod([0-9a-f]{32})(?:\.slice)?$/

function orphanCgroups(c: PodContext): readonly { readonly uid: string; readonly path: string }[] {
  return c.planner.nodeCgroups([]).flatMap(({ path: parent }) =>
    (c.cgroups.children(parent) ?? []).flatMap((child) => {
      const path = `${parent}/${child}`
      const uid = podCgroup.exec(child)?.[1]
      return uid === undefined ? [] : [{ uid, path }]
    }),
  )
}

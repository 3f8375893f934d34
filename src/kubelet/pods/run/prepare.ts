// What a pod has before its sandbox and loses after it: its cgroup with values, its directories and volumes.

import { isFileOfLog } from '../../../core/cri/log-rotation.js'
import { asKeelsonError } from '../../../core/errors.js'
import { podHugetlb } from '../../../core/plan/hugetlb.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { CgroupPath, ControlValues } from '../../../ports/cgroups.js'
import { subPathsDirectory } from '../../volumes/paths.js'
import type { PodContext } from '../context.js'
import { isAlive, type ObservedContainer, type ObservedPod } from '../decide/observed.js'
import { podReferences } from '../decide/references.js'
import {
  containerLogName,
  logLinkName,
  logLinkStart,
  logLinksDirectory,
  podDirectory,
  podLogDirectory,
  podRecords,
  terminationLog,
} from '../to-cri/names.js'
import { makePodDirectories } from './pod-directories.js'

export async function preparePod(spec: PodSpec, c: PodContext, signal: AbortSignal): Promise<ControlValues> {
  // Before anything else of the pod: what has no record is not ours to remove.
  await c.host.ensureFile(`${podRecords(c.paths)}/${spec.pod.uid}`, 0o600)
  // Early: the first read then finds the cache filled.
  c.objects?.register(spec.pod, podReferences(spec))
  const { path, values } = c.planner.podCgroup(spec)
  await c.cgroups.ensure(path, { signal })
  await c.cgroups.apply(path, { ...values, ...hugetlbValues(path, spec, c) }, signal)
  await makePodDirectories(spec, c.paths, c.host)
  await c.volumes.mount(spec, signal)
  return values
}

/** Which sizes there are is known from the files of the cgroup alone. */
const hugetlbValues = (path: CgroupPath, { pod }: PodSpec, { cgroups }: PodContext): ControlValues =>
  cgroups.controllers(path)?.includes('hugetlb') === true
    ? podHugetlb(pod, cgroups.version, (file) => cgroups.read(path, file) !== undefined)
    : {}

/** The pod's cgroup, wherever it may be: the class of a pod without a manifest is not known. */
export async function removePodCgroups(uid: string, c: PodContext, signal: AbortSignal): Promise<void> {
  // The runtime shows no container of the pod any more: a process that is left is one that a crash of the runtime has lost.
  for (const path of c.planner.podCgroupPaths(uid))
    await c.cgroups.remove(path, { signal, killProcesses: true })
}

/** Cgroup and volumes; the log stays as long as the manifest does. */
export async function releasePod(uid: string, c: PodContext, signal: AbortSignal): Promise<void> {
  await c.volumes.release(uid)
  await removePodCgroups(uid, c, signal)
  await removeVolumes(uid, c)
}

/** Parts of volumes are mounts of them, so they go first. */
async function removeVolumes(
  uid: string,
  { host, paths }: Pick<PodContext, 'host' | 'paths'>,
): Promise<void> {
  await host.removeTree(subPathsDirectory(paths, uid))
  await host.removeTree(`${podDirectory(paths, uid)}/volumes`)
}

export async function forgetPod(
  pod: { readonly uid: string; readonly name: string; readonly namespace: string },
  c: PodContext,
  signal: AbortSignal,
): Promise<void> {
  await c.volumes.release(pod.uid)
  await removePodCgroups(pod.uid, c, signal)
  await removeVolumes(pod.uid, c)
  await c.host.removeTree(podDirectory(c.paths, pod.uid))
  if (pod.name !== '') await c.host.removeTree(podLogDirectory(c.paths, pod))
  await removeLogLinks(c, pod.name === '' ? '' : logLinkStart(pod))
  await c.host.remove(`${podRecords(c.paths)}/${pod.uid}`)
}

/** The log of a removed instance goes with it, and so does its link. */
export async function forgetContainers(
  observed: ObservedPod,
  isGone: (container: ObservedContainer) => boolean,
  c: Pick<PodContext, 'host' | 'paths' | 'log'>,
): Promise<void> {
  for (const container of observed.containers.filter(isGone)) {
    const { name, attempt, id } = container
    const { host, paths } = c
    await removeLogs(`${podLogDirectory(paths, observed)}/${name}`, containerLogName(attempt), c)
    await host.remove(`${logLinksDirectory(paths)}/${logLinkName(observed, name, id)}`)
    await host.remove(terminationLog(paths, observed.uid, name, attempt))
  }
}

/** With what rotation made of it. A directory that was replaced must not keep the container from being forgotten. */
async function removeLogs(
  directory: string,
  log: string,
  { host, log: out }: Pick<PodContext, 'host' | 'log'>,
): Promise<void> {
  try {
    const files = (await host.listLogs(directory)) ?? []
    for (const { name } of files) if (isFileOfLog(log, name)) await host.removeLog(directory, name)
  } catch (e) {
    out.warn('failed to remove the logs of a removed container', { directory, error: asKeelsonError(e) })
  }
}

/** Links whose log has gone, of those whose names begin so. A link that leads elsewhere is not ours, and a log that is being rotated is missing only for a moment. */
export async function removeLogLinks(
  c: Pick<PodContext, 'host' | 'paths' | 'log' | 'view'>,
  start = '',
): Promise<void> {
  const directory = logLinksDirectory(c.paths)
  const alive = c.view.all().flatMap((pod) => pod.containers.filter(isAlive).map(({ id }) => id))
  try {
    for (const name of (await c.host.list(directory)) ?? []) {
      if (!name.startsWith(start)) continue
      const target = await c.host.linkTarget(`${directory}/${name}`)
      if (target === undefined || !target.startsWith(`${c.paths.podLogsDir}/`)) continue
      if (alive.some((id) => name.endsWith(`-${id}.log`))) continue
      if ((await c.host.kindOf(target)) === undefined) await c.host.remove(`${directory}/${name}`)
    }
  } catch (e) {
    c.log.warn('failed to remove links of old logs', { directory, error: asKeelsonError(e) })
  }
}

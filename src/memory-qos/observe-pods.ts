// What the kernel says about the cgroups of the plan: contents of our three files, usage, and throttle events.

import { readControl, readControlText, readCount } from '../core/cgroup/control-file.js'
import { childPath } from '../core/cgroup/path.js'
import { findContainerCgroup } from '../core/cgroup/pod-cgroup.js'
import { createFlatKeyedParser } from '../core/kernel-text/flat-keyed.js'
import { type MemoryTarget, type QosFile, qosFiles } from '../core/memory-qos/targets.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { RunningByPod } from './containers.js'

export interface Observation {
  readonly target: MemoryTarget
  /** The cgroup itself, a container's own included. */
  readonly path: CgroupPath
  readonly containerId: string | undefined
  /** A file that is missing here does not exist: no memory controller there. */
  readonly files: Readonly<Partial<Record<QosFile, string>>>
  readonly max: string | undefined
  readonly usage: bigint | undefined
  /** The `high` line of memory.events; containers only. */
  readonly highEvents: bigint | undefined
}

const events = createFlatKeyedParser(['high'])
const highOf = (text: Uint8Array): bigint => events(text).high ?? 0n

type Reader = Pick<CgroupTree, 'read' | 'children' | 'exists'>

/** Cgroups that are not there (yet, or any more) are left out. */
export function observe(
  cgroups: Reader,
  targets: readonly MemoryTarget[],
  running: RunningByPod,
): readonly Observation[] {
  return targets.flatMap((target) => {
    const place = locate(cgroups, target, running)
    return place === undefined ? [] : [readCgroup(cgroups, target, place.path, place.containerId)]
  })
}

interface Place {
  readonly path: CgroupPath
  readonly containerId: string | undefined
}

function locate(cgroups: Reader, target: MemoryTarget, running: RunningByPod): Place | undefined {
  const { container, path, pod } = target
  if (container === undefined) return cgroups.exists(path) ? { path, containerId: undefined } : undefined
  const found = running.get(pod?.uid ?? '')?.find((c) => c.name === container.name)
  if (found === undefined) return undefined
  const name = findContainerCgroup(cgroups.children(path) ?? [], found.id)
  return name === undefined ? undefined : { path: childPath(path, name), containerId: found.id }
}

export function readCgroup(
  cgroups: Reader,
  target: MemoryTarget,
  path: CgroupPath,
  containerId: string | undefined,
): Observation {
  const files: Partial<Record<QosFile, string>> = {}
  for (const file of qosFiles) {
    const content = readControlText(cgroups, path, file)
    if (content !== undefined) files[file] = content
  }
  const usage = readCount(cgroups, path, 'memory.current')
  const isContainer = containerId !== undefined
  const highEvents = isContainer ? readControl(cgroups, path, 'memory.events', highOf) : undefined
  const max = isContainer ? readControlText(cgroups, path, 'memory.max') : undefined
  return { target, path, containerId, files, max, usage, highEvents }
}

// Reads the tree for `explain --live`: on request only, because it walks everything below kubepods.
import { readCountOrMax } from '../core/cgroup/control-file.js'
import { parentPath } from '../core/cgroup/path.js'
import { parsePressure } from '../core/kernel-text/pressure.js'
import {
  type LiveCgroup,
  type LiveReport,
  liveReport,
  type TreeCgroup,
} from '../core/memory-qos/effective-values.js'
import type { CgroupPath, CgroupTree } from '../ports/cgroups.js'
import type { Observation } from './observe-pods.js'
import { readCgroup } from './observe-pods.js'

const unlimited = 2n ** 63n

function amountAt(cgroups: CgroupTree, path: CgroupPath, file: string): bigint | undefined {
  const amount = readCountOrMax(cgroups, path, file)
  return amount === 'max' ? unlimited : amount
}

function readTree(cgroups: CgroupTree, observed: readonly Observation[]): readonly TreeCgroup[] {
  const paths = new Set<CgroupPath>()
  for (const { path, target } of observed) {
    if (target.level === 'kubepods') for (const one of cgroups.walk(path)) paths.add(one)
    for (let at = parentPath(path); at !== undefined && at !== '/'; at = parentPath(at)) paths.add(at)
    paths.add(path)
  }
  return [...paths].flatMap((path) => {
    const usage = amountAt(cgroups, path, 'memory.current')
    const min = amountAt(cgroups, path, 'memory.min')
    const low = amountAt(cgroups, path, 'memory.low')
    return usage === undefined || min === undefined || low === undefined
      ? []
      : [{ path, usage, 'memory.min': min, 'memory.low': low }]
  })
}

const levels = ['kubepods', 'qos', 'reserved', 'pod', 'container'] as const

interface LiveOptions {
  /** `namespace/name` or a bare name; undefined: everything. */
  readonly pod: string | undefined
  /** Mount option memory_recursiveprot. */
  readonly recursive: boolean
}

export function readLive(
  cgroups: CgroupTree,
  observed: readonly Observation[],
  { pod, recursive }: LiveOptions,
): LiveReport {
  const wanted = observed.filter(
    ({ target }) =>
      pod === undefined ||
      target.pod === undefined ||
      target.pod.name === pod ||
      `${target.pod.namespace}/${target.pod.name}` === pod,
  )
  const live = wanted
    .toSorted((a, b) => levels.indexOf(a.target.level) - levels.indexOf(b.target.level))
    .map((o): LiveCgroup => {
      const now = readCgroup(cgroups, o.target, o.path, o.containerId)
      const pressure = cgroups.read(o.path, 'memory.pressure')
      const { desired, level, outcomes, title, pod: ref } = o.target
      return {
        level,
        title,
        path: o.path,
        ...(ref === undefined ? {} : { pod: ref }),
        usage: now.usage,
        desired,
        outcomes,
        written: now.files,
        highEvents: now.highEvents,
        pressure: pressure === undefined ? undefined : parsePressure(pressure)?.some.avg10,
      }
    })
  return liveReport(live, readTree(cgroups, observed), recursive)
}

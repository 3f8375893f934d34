// kubepods and the QoS cgroups: made at the start, and written when the value that the pods lead to has changed. Nothing
// here is ever written again on a timer.
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { CgroupTree, ControlValues } from '../../../ports/cgroups.js'
import type { Planner } from './planner.js'

export interface NodeCgroups {
  apply(specs: readonly PodSpec[], signal: AbortSignal): Promise<void>
}

export function createNodeCgroups(cgroups: CgroupTree, planner: Planner): NodeCgroups {
  const written = new Map<string, ControlValues>()
  return {
    async apply(specs, signal) {
      for (const { path, values } of planner.nodeCgroups(specs)) {
        const before = written.get(path)
        if (before === undefined) await cgroups.ensure(path, { signal })
        const changed = Object.entries(values).filter(([file, value]) => before?.[file] !== value)
        if (changed.length > 0) await cgroups.apply(path, Object.fromEntries(changed), signal)
        written.set(path, values)
      }
    },
  }
}

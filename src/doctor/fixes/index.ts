// Everything that --fix can do. Each is safe: it clears unused values or removes permissions, and moves no process.
import { looseFiles } from '../checks/kubelet-files.js'
import { leftoverTree } from '../checks/leftover-pod-tree.js'
import { hasMemoryValues } from '../checks/stale-values.js'
import type { Fix } from './fix.js'

const cleared = { 'memory.min': '0', 'memory.low': '0', 'memory.high': 'max' } as const

export const fixes: readonly Fix[] = [
  {
    check: 'stale-values',
    does: 'clears memory.min, memory.low and memory.high of pods while Memory QoS is off',
    plan({ cgroups, kubelet }) {
      if (kubelet.source === undefined || kubelet.loaded.config.memoryQos.enabled) return []
      return (cgroups?.pods ?? []).filter(hasMemoryValues).flatMap(({ path }) =>
        Object.entries(cleared).map(([file, value]) => ({
          kind: 'write' as const,
          cgroup: path,
          file,
          value,
        })),
      )
    },
  },
  {
    check: 'leftover-pod-tree',
    does: 'removes the empty cgroups of the unused cgroup driver',
    plan({ cgroups }) {
      const left = cgroups === undefined ? undefined : leftoverTree(cgroups)
      return left === undefined ? [] : [{ kind: 'remove-empty', cgroup: left }]
    },
  },
  {
    check: 'kubelet-files',
    does: 'removes the access of other users to the kubelet files',
    plan: ({ kubelet }) => looseFiles(kubelet.files).map((f) => ({ kind: 'mode' as const, ...f })),
  },
]

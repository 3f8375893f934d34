// What eviction watches: the signals, the resource that each one is about, and the condition of the node that it causes.
import type { Pressure } from '../../node/decide/conditions.js'

export type Signal =
  | 'memory.available'
  /** Of the cgroup above all pods; follows memory.available. */
  | 'allocatableMemory.available'
  | 'nodefs.available'
  | 'nodefs.inodesFree'
  | 'imagefs.available'
  | 'imagefs.inodesFree'
  /** Follow nodefs or imagefs, whichever the writable layers are on. */
  | 'containerfs.available'
  | 'containerfs.inodesFree'
  | 'pid.available'

export type Resource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids'

export const resourceOf: Readonly<Record<Signal, Resource>> = {
  'memory.available': 'memory',
  'allocatableMemory.available': 'memory',
  'nodefs.available': 'ephemeral-storage',
  'nodefs.inodesFree': 'inodes',
  'imagefs.available': 'ephemeral-storage',
  'imagefs.inodesFree': 'inodes',
  'containerfs.available': 'ephemeral-storage',
  'containerfs.inodesFree': 'inodes',
  'pid.available': 'pids',
}

export const conditionOf = (signal: Signal): keyof Pressure => {
  const resource = resourceOf[signal]
  return resource === 'memory' ? 'memory' : resource === 'pids' ? 'pid' : 'disk'
}

export const isSignal = (name: string): name is Signal => name in resourceOf

// Kind `cgroupName`: components to paths, paths to components, pods to paths. Refusing means a typed error.
import {
  type CgroupDriver,
  type CgroupName,
  cgroupName,
  formatCgroupfsPath,
  formatSystemdPath,
  parseCgroupPath,
} from '../../../../src/core/cgroup/name.js'
import { podCgroupName } from '../../../../src/core/cgroup/pod-cgroup.js'
import { isKeelsonError } from '../../../../src/core/errors.js'
import { qosClasses } from '../../../../src/core/pod/pod.js'
import { type Fields, textAt } from '../../types.js'

export function runCgroupName(input: Fields): Fields {
  const op = textAt(input, 'op')
  switch (op) {
    case 'toPath':
      return bothPaths(() => cgroupName(stringsOf(input['components'])))
    case 'podName':
      return bothPaths(() => podNameOf(input))
    case 'parse':
      return parse(textAt(input, 'name'), input['driver'] === 'systemd' ? 'systemd' : 'cgroupfs')
    default:
      throw new Error(`op ${JSON.stringify(op)} is not supported`)
  }
}

function podNameOf(input: Fields): CgroupName {
  const qosClass = qosClasses.find((c) => c === input['qosClass'])
  if (qosClass === undefined) throw new Error('the vector has no QoS class')
  const root = input['cgroupRoot']
  return podCgroupName(textAt(input, 'uid'), qosClass, typeof root === 'string' ? root : '/')
}

function bothPaths(name: () => CgroupName): Fields {
  const cgroupfs = refusable(() => formatCgroupfsPath(name()))
  const systemd = refusable(() => formatSystemdPath(name()))
  // Refused means by both drivers; one alone shows as a difference.
  if (cgroupfs === undefined && systemd === undefined) return { error: true }
  return { cgroupfs, systemd }
}

function parse(path: string, driver: CgroupDriver): Fields {
  const components = refusable(() => parseCgroupPath(path, driver))
  if (components === undefined) return { error: true }
  return { components, ...bothPaths(() => components) }
}

function refusable<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (e) {
    if (isKeelsonError(e) && e.code === 'cgroup-name.invalid') return undefined
    throw e
  }
}

const stringsOf = (v: unknown): readonly string[] => (Array.isArray(v) ? v.map(String) : [])

// What a companion takes over from the kubelet of its node: reservations, cgroups and enforcement, from /configz or from the
// configuration file. Fields that it does not need are not looked at, so that any release's answer will do.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { keelsonError } from '../../core/errors.js'
import type { Reservation } from '../../core/plan/reserved-cgroups.js'
import { parseResourceList } from '../../core/pod/parse-pod.js'
import type { ResourceList } from '../../core/units/resource-list.js'

export interface KubeletSettings {
  readonly cgroupRoot: string
  readonly cgroupsPerQOS: boolean
  /** What the file says; the runtime or the tree may know better. */
  readonly cgroupDriver: CgroupDriver | undefined
  readonly enforceNodeAllocatable: readonly string[]
  readonly amounts: Readonly<Record<Reservation, ResourceList>>
  readonly cgroups: Readonly<Record<Reservation, string>>
  readonly containerRuntimeEndpoint: string | undefined
  /** The kubelet itself has Memory QoS on: two writers would meet. */
  readonly memoryQosGate: boolean
}

type Fields = Readonly<Record<string, unknown>>

const invalid = (path: string, what: string) =>
  keelsonError('companion.source', `read the kubelet's settings: ${path} is ${what}`, { path })

function fieldsOf(value: unknown, path: string): Fields {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(path, 'not a mapping')
  return value as Fields
}

function textAt(config: Fields, name: string): string {
  const value = config[name]
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw invalid(name, 'not text')
  return value
}

function namesAt(config: Fields, name: string): readonly string[] | undefined {
  const value = config[name]
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value) || !value.every((v) => typeof v === 'string'))
    throw invalid(name, 'not a list of names')
  return value
}

/** `config` has the fields of KubeletConfiguration, as in a file or below `kubeletconfig` of /configz. */
export function parseKubeletSettings(input: unknown): KubeletSettings {
  const config = fieldsOf(input, 'KubeletConfiguration')
  const driver = textAt(config, 'cgroupDriver')
  return {
    cgroupRoot: textAt(config, 'cgroupRoot') || '/',
    cgroupsPerQOS: config['cgroupsPerQOS'] !== false,
    cgroupDriver: driver === 'systemd' || driver === 'cgroupfs' ? driver : undefined,
    enforceNodeAllocatable: namesAt(config, 'enforceNodeAllocatable') ?? ['pods'],
    amounts: {
      'kube-reserved': parseResourceList(config['kubeReserved'], 'kubeReserved'),
      'system-reserved': parseResourceList(config['systemReserved'], 'systemReserved'),
    },
    cgroups: {
      'kube-reserved': textAt(config, 'kubeReservedCgroup'),
      'system-reserved': textAt(config, 'systemReservedCgroup'),
    },
    containerRuntimeEndpoint: textAt(config, 'containerRuntimeEndpoint') || undefined,
    memoryQosGate: fieldsOf(config['featureGates'], 'featureGates')['MemoryQoS'] === true,
  }
}

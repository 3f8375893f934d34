// What a cgroup path or a runtime's own settings say about the driver behind them. Pure readings of text; what to
// make of them is driver-proof.ts.
import type { CgroupDriver } from '../cgroup/name.js'

/** `mismatch`: the runtime took a systemd name for a directory. `other`: not made by a kubelet, proves nothing. */
type PathEvidence = CgroupDriver | 'mismatch' | 'other'

const podSlice = /(^|-)kubepods(-[^/]*)?\.slice$/
/** `cri-containerd-<id>.scope`, `crio-<id>.scope`, and their parents without a suffix under cgroupfs. */
const runtimeScope = /^[a-z][a-z-]*-[0-9a-f]{12,64}\.scope$/
const containerId = /^(crio-)?[0-9a-f]{64}$/
/** What runc makes of `slice:prefix:name` under cgroupfs. */
const systemdForm = /^[^:]*:[^:]*:[^:]+$/

/**
 * `/kubepods.slice/.../cri-containerd-0123.scope` -> systemd, `/kubepods/burstable/pod1/0123` -> cgroupfs,
 * `/x.slice:cri-containerd:0123` -> mismatch.
 */
export function classifyCgroupPath(path: string): PathEvidence {
  const parts = path.split('/').filter((p) => p !== '')
  const last = parts.at(-1)
  if (last === undefined) return 'other'
  if (parts.some((p) => systemdForm.test(p))) return 'mismatch'
  const inSlice = parts.some((p) => p.endsWith('.slice'))
  if (last.endsWith('.scope') && (parts.some((p) => podSlice.test(p)) || runtimeScope.test(last)))
    return 'systemd'
  if (!inSlice && (parts.includes('kubepods') || containerId.test(last))) return 'cgroupfs'
  return 'other'
}

/** One runtime handler as containerd describes it in the verbose form of Status. */
export interface HandlerSetting {
  readonly name: string
  readonly isDefault: boolean
  /** Undefined: a handler without runc's options, a virtual machine for example. */
  readonly driver: CgroupDriver | undefined
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (v: unknown): Fields | undefined =>
  typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Fields) : undefined

/** `info.config` of Status. Undefined: not containerd's form, so nothing is known. */
export function parseHandlerSettings(configJson: string): readonly HandlerSetting[] | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(configJson)
  } catch {
    return undefined
  }
  const containerd = fieldsOf(fieldsOf(parsed)?.containerd)
  const runtimes = fieldsOf(containerd?.runtimes)
  if (containerd === undefined || runtimes === undefined) return undefined
  const standard = containerd.defaultRuntimeName ?? containerd.default_runtime_name
  return Object.entries(runtimes)
    .map(([name, value]) => ({ name, isDefault: name === standard, driver: driverOf(fieldsOf(value)) }))
    .sort((a, b) => Number(b.isDefault) - Number(a.isDefault) || (a.name < b.name ? -1 : 1))
}

/** An untouched runc handler has no SystemdCgroup at all, which is false. */
function driverOf(handler: Fields | undefined): CgroupDriver | undefined {
  const type = handler?.runtimeType ?? handler?.runtime_type
  const systemd = fieldsOf(handler?.options)?.SystemdCgroup
  if (typeof systemd === 'boolean') return systemd ? 'systemd' : 'cgroupfs'
  return typeof type === 'string' && /^io\.containerd\.runc\./.test(type) ? 'cgroupfs' : undefined
}

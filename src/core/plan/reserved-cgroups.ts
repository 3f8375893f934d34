// The cgroups of system and Kubernetes daemons when their reservation is enforced. They must already exist;
// their memory.min follows the feature gate and not the reservation policy.

import { type CgroupDriver, type CgroupName, parseCgroupPath } from '../cgroup/name.js'
import { type MemoryQosSettings, whyMemoryQosIsOff } from '../memory-qos/settings.js'
import { type Bytes, bytes } from '../units/bytes.js'
import { memoryOf, milliCpuOf, type ResourceList } from '../units/resource-list.js'
import { sharesWeight } from './cpu-files.js'
import { notWritten, type PlannedValue, value } from './planned-value.js'

export type Reservation = 'system-reserved' | 'kube-reserved'

/** In the order in which they are enforced at start. */
export const reservations: readonly Reservation[] = ['system-reserved', 'kube-reserved']

export interface ReservedInput {
  readonly enforceNodeAllocatable: readonly string[]
  readonly amounts: Readonly<Record<Reservation, ResourceList>>
  /** As configured: a path, or a slice under systemd. */
  readonly cgroups: Readonly<Record<Reservation, string>>
  readonly driver: CgroupDriver
  readonly memoryQos: MemoryQosSettings
}

export interface ReservedCgroup {
  readonly reservation: Reservation
  readonly cgroup: CgroupName
  readonly files: {
    readonly 'memory.min': PlannedValue<Bytes>
    readonly 'memory.max': PlannedValue<Bytes>
    readonly 'cpu.weight': PlannedValue<bigint>
  }
}

export function planReservedCgroups(i: ReservedInput): readonly ReservedCgroup[] {
  return reservations.flatMap((reservation) => {
    const plain = i.enforceNodeAllocatable.includes(reservation)
    const compressible = i.enforceNodeAllocatable.includes(`${reservation}-compressible`)
    if (!plain && !compressible) return []
    const amount = i.amounts[reservation]
    const cgroup = parseCgroupPath(i.cgroups[reservation], i.driver)
    const cpu = amount.has('cpu')
      ? sharesWeight(milliCpuOf(amount), `the CPU of ${reservation}`)
      : notWritten('no-reservation', `${reservation} names no CPU`)
    const memory = plain ? reservedMemory(i.memoryQos, reservation, amount) : compressibleOnly(reservation)
    return [{ reservation, cgroup, files: { ...memory, 'cpu.weight': cpu } }]
  })
}

type MemoryFiles = Pick<ReservedCgroup['files'], 'memory.min' | 'memory.max'>

function reservedMemory(s: MemoryQosSettings, reservation: Reservation, amount: ResourceList): MemoryFiles {
  const memory = memoryOf(amount)
  if (memory === 0n) {
    const nothing = notWritten('no-reservation', `${reservation} names no memory`)
    return { 'memory.max': nothing, 'memory.min': nothing }
  }
  const formula = `${reservation} memory = ${memory}`
  const max = value(memory, 'reservation', `the memory of ${reservation}`, formula)
  const off = whyMemoryQosIsOff(s)
  if (off === undefined) return { 'memory.max': max, 'memory.min': max }
  // Upstream leaves an old memory.min behind when the gate goes off; a zero removes it.
  const min =
    off.code === 'gate-off' ? value(bytes(0n), off.code, off.reason) : notWritten(off.code, off.reason)
  return { 'memory.max': max, 'memory.min': min }
}

function compressibleOnly(reservation: Reservation): MemoryFiles {
  const nothing = notWritten('compressible-only', `${reservation}-compressible sets CPU only`)
  return { 'memory.max': nothing, 'memory.min': nothing }
}

/** Above a nested reserved cgroup no protection is written, so the kernel may void it: worth a log line. */
export const unprotectedAncestors = (cgroup: CgroupName): readonly CgroupName[] =>
  cgroup.slice(0, -1).map((_, i) => cgroup.slice(0, i + 1))

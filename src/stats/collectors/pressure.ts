// Pressure stall information of one cgroup. v2 only, kernel 5.2; the kernel may also have it switched off.
import { type Pressure, type PressureLine, parsePressure } from '../../core/kernel-text/pressure.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import type { Emit, Family } from '../catalogue/family.js'
import { pressureFamilies as f } from '../catalogue/pressure.js'
import type { CollectContext, Collector } from './collector.js'

interface PressureValues {
  readonly cpu: Pressure | undefined
  readonly memory: Pressure | undefined
  readonly io: Pressure | undefined
}

function readOne(context: CollectContext, path: CgroupPath, file: string): Pressure | undefined {
  const text = context.cgroups.read(path, file)
  return text === undefined ? undefined : parsePressure(text)
}

const noLine: PressureLine = { avg10: 0, avg60: 0, avg300: 0, totalMicros: 0n }
const noPressure: Pressure = { some: noLine, full: noLine }

/** What cAdvisor has where the kernel counts no pressure. */
export const zeroPressure: PressureValues = { cpu: noPressure, memory: noPressure, io: noPressure }

const nanosFromMicros = (micros: bigint): bigint => micros * 1_000n

function emitOne(pressure: Pressure | undefined, waiting: Family, stalled: Family, emit: Emit): void {
  if (pressure === undefined) return
  emit(waiting, nanosFromMicros(pressure.some.totalMicros))
  // cpu.pressure has no full line before 5.13.
  emit(stalled, nanosFromMicros(pressure.full?.totalMicros ?? 0n))
}

export const pressure: Collector<PressureValues> = {
  read(path, _scope, context) {
    const absent = context.asCadvisor === true ? zeroPressure : undefined
    if (context.cgroups.version === 'v1') return absent
    const cpu = readOne(context, path, 'cpu.pressure') ?? absent?.cpu
    const memory = readOne(context, path, 'memory.pressure') ?? absent?.memory
    const io = readOne(context, path, 'io.pressure') ?? absent?.io
    return cpu === undefined && memory === undefined && io === undefined ? undefined : { cpu, memory, io }
  },
  emit({ cpu, memory, io }, emit) {
    emitOne(
      cpu,
      f.container_pressure_cpu_waiting_seconds_total,
      f.container_pressure_cpu_stalled_seconds_total,
      emit,
    )
    emitOne(
      memory,
      f.container_pressure_memory_waiting_seconds_total,
      f.container_pressure_memory_stalled_seconds_total,
      emit,
    )
    emitOne(
      io,
      f.container_pressure_io_waiting_seconds_total,
      f.container_pressure_io_stalled_seconds_total,
      emit,
    )
  },
}

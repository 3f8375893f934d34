// Counters of two readings as the values that a view shows.

import type {
  LiveCpu,
  LiveIo,
  LiveMemory,
  LivePressure,
  LivePressures,
  LiveValues,
} from '../../core/dashboard/model.js'
import type { Pressure } from '../../core/kernel-text/pressure.js'
import type { Usage } from '../../stats/usage.js'
import type { RawCpu, RawIo, RawMemory, RawPressure, RawValues, Threshold } from './raw-values.js'

export const noValues: LiveValues = { cpu: null, memory: null, pressure: null, io: null }

const amount = (value: Threshold): string | null => value?.toString() ?? null
const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/** A counter that went back belongs to a new cgroup: then there is no rate yet. */
export function perSecond(before: bigint | undefined, now: bigint, elapsedNanos: bigint): number | undefined {
  if (before === undefined || elapsedNanos <= 0n || now < before) return undefined
  return (Number(now - before) * 1e9) / Number(elapsedNanos)
}

const elapsedSince = (now: { timeNanos: bigint }, before: { timeNanos: bigint } | undefined): bigint =>
  before === undefined ? 0n : now.timeNanos - before.timeNanos

const livePressure = (p: Pressure | undefined): LivePressure | null =>
  p === undefined ? null : { some: p.some.avg10, full: p.full?.avg10 ?? 0 }

export const livePressures = (p: RawPressure | undefined): LivePressures | null =>
  p === undefined
    ? null
    : { cpu: livePressure(p.cpu), memory: livePressure(p.memory), io: livePressure(p.io) }

function liveMemory(now: RawMemory, before: RawMemory | undefined): LiveMemory {
  const elapsed = elapsedSince(now, before)
  const throttles =
    now.highEvents === undefined ? undefined : perSecond(before?.highEvents, now.highEvents, elapsed)
  return {
    usage: now.usage.toString(),
    workingSet: now.workingSet.toString(),
    cache: amount(now.cache),
    min: amount(now.min),
    low: amount(now.low),
    high: amount(now.high),
    max: amount(now.max),
    highEvents: amount(now.highEvents),
    maxEvents: amount(now.maxEvents),
    oomKills: amount(now.oomKills),
    throttlesPerSecond: throttles === undefined ? null : round(throttles, 2),
  }
}

function liveCpu(now: RawCpu, before: RawCpu | undefined): LiveCpu {
  const nanos = perSecond(before?.usageNanos, now.usageNanos, elapsedSince(now, before))
  const periods = before === undefined ? 0n : now.periods - before.periods
  const throttled = before === undefined ? 0n : now.throttledPeriods - before.throttledPeriods
  return {
    milli: nanos === undefined ? null : round(nanos / 1e6, 1),
    throttledPercent:
      periods <= 0n || throttled < 0n ? null : round((Number(throttled) * 100) / Number(periods), 1),
  }
}

function liveIo(now: RawIo, before: RawIo | undefined): LiveIo | null {
  const elapsed = elapsedSince(now, before)
  const read = perSecond(before?.readBytes, now.readBytes, elapsed)
  const write = perSecond(before?.writeBytes, now.writeBytes, elapsed)
  return read === undefined || write === undefined
    ? null
    : { readPerSecond: Math.round(read), writePerSecond: Math.round(write) }
}

export interface Reading {
  readonly raw: RawValues
  readonly values: LiveValues
}

/** A part that was not read again is the same object as before, and so are its values. */
export function liveValues(now: RawValues, last: Reading | undefined): LiveValues {
  const before = last?.raw
  const part = <R, F>(
    one: R | undefined,
    old: R | undefined,
    shown: F | null | undefined,
    make: (r: R) => F | null,
  ): F | null => (one === undefined ? null : one === old && shown !== undefined ? shown : make(one))
  return {
    cpu: part(now.cpu, before?.cpu, last?.values.cpu, (r) => liveCpu(r, before?.cpu)),
    memory: part(now.memory, before?.memory, last?.values.memory, (r) => liveMemory(r, before?.memory)),
    pressure: part(now.pressure, before?.pressure, last?.values.pressure, livePressures),
    io: part(now.io, before?.io, last?.values.io, (r) => liveIo(r, before?.io)),
  }
}

const criPressure = (
  psi: { some: { avg10: number }; full: { avg10: number } } | undefined,
): LivePressure | null => (psi === undefined ? null : { some: psi.some.avg10, full: psi.full.avg10 })

/** What the runtime says, where no cgroup can be read. It has no thresholds and no throttle events. */
export function valuesOfUsage({ cpu, memory, io }: Usage, nanoCores: bigint | undefined): LiveValues {
  const usage = memory?.usageBytes ?? memory?.workingSetBytes
  const pressure = { cpu: criPressure(cpu?.psi), memory: criPressure(memory?.psi), io: criPressure(io?.psi) }
  return {
    cpu:
      cpu === undefined
        ? null
        : {
            milli: nanoCores === undefined ? null : round(Number(nanoCores) / 1e6, 1),
            throttledPercent: null,
          },
    memory:
      usage === undefined
        ? null
        : {
            usage: usage.toString(),
            workingSet: (memory?.workingSetBytes ?? usage).toString(),
            cache: null,
            min: null,
            low: null,
            high: null,
            max: null,
            highEvents: null,
            maxEvents: null,
            oomKills: null,
            throttlesPerSecond: null,
          },
    pressure: Object.values(pressure).every((p) => p === null) ? null : pressure,
    io: null,
  }
}

// What is done about the wrong values of a runtime, and how often it was done: by runtime, family or field, and reason.
import type { ValuesMode } from '../../core/cri/values-mode.js'
import type { Metrics } from '../../ports/metrics.js'
import { type DefectName, isKnownDefect, type RuntimeName } from './defects.js'
import { isOtherNamespace, type Traffic } from './network-rules.js'
import { type HasDefect, judgeValue, type KernelValues } from './value-rules.js'

export interface RepairedValue {
  readonly runtime: string
  readonly version: string
  readonly family: string
  readonly reason: DefectName
  readonly count: number
}

/** The rules for one runtime. */
export interface Repair {
  readonly hasDefect: HasDefect
  note(family: string, reason: DefectName): void
  /** These are not the values of the pod's own network namespace. */
  isOtherNamespace(given: Traffic, own: Traffic): boolean
  /** The value to report. Undefined: none. */
  value(family: string, given: bigint, kernel: () => KernelValues): bigint | undefined
}

export interface Repairs {
  readonly mode: ValuesMode
  /** Undefined: its name is not known, so only what no runtime may report is repaired. */
  of(runtime: RuntimeName | undefined): Repair
  repaired(): readonly RepairedValue[]
}

/** Names of families come from a fixed list, versions change with an upgrade; a limit all the same. */
const maxRows = 1_000

/** Kept in both modes: they add what has no room in CRI, and change no value of the runtime. */
const formDefects: ReadonlySet<DefectName> = new Set(['seconds-cut', 'labels-missing'])

/** `cgroups`: the version in use here; some defects exist only on one of them. */
export function createRepairs(mode: ValuesMode, metrics: Metrics, cgroups?: 'v1' | 'v2'): Repairs {
  const rows = new Map<string, { readonly row: Omit<RepairedValue, 'count'>; count: number }>()
  const counter = metrics.counter(
    'keelson_stats_repaired_values_total',
    'Wrong values of the runtime that were replaced from the kernel or left out.',
    ['runtime', 'version', 'family', 'reason'],
  )

  function note(runtime: RuntimeName | undefined, family: string, reason: DefectName): void {
    const row = { runtime: runtime?.name ?? 'unknown', version: runtime?.version ?? '', family, reason }
    const key = Object.values(row).join(' ')
    const known = rows.get(key)
    if (known !== undefined) known.count++
    else if (rows.size < maxRows) rows.set(key, { row, count: 1 })
    else return
    counter.inc(row)
  }

  function repairFor(runtime: RuntimeName | undefined, count: Repair['note']): Repair {
    const hasDefect: HasDefect = (defect) =>
      (mode !== 'trust' || formDefects.has(defect)) && isKnownDefect(runtime, defect, cgroups)
    return {
      hasDefect,
      note: count,
      isOtherNamespace: (given, own) => mode !== 'trust' && isOtherNamespace(given, own),
      value(family, given, kernel) {
        const verdict = mode === 'trust' ? undefined : judgeValue(family, given, kernel, hasDefect)
        if (verdict === undefined) return given
        count(family, verdict.reason)
        return verdict.value
      },
    }
  }

  return {
    mode,
    of: (runtime) => repairFor(runtime, (family, reason) => note(runtime, family, reason)),
    repaired: () => [...rows.values()].map(({ row, count }) => ({ ...row, count })),
  }
}

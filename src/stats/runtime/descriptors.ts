// The runtime's metric descriptors as families: which of a metric's label values are extra labels, and how its whole
// numbers compare with the exact ones.
import type { Metric, MetricDescriptor } from '../../cri-api/api.js'
import { MetricType } from '../../cri-api/api.js'
import { cpuFamilies } from '../catalogue/cpu.js'
import { type ExtraLabels, extraLabels, type Family } from '../catalogue/family.js'
import { familyOf } from '../catalogue/index.js'
import { cpuTotal } from '../collectors/cpu.js'
import { commonLabelKeys } from '../render/label-set.js'

export interface Described {
  readonly family: Family
  /** Position and name of each label that not every series has. */
  readonly extra: readonly (readonly [position: number, name: string])[]
  /** Position and name of each of the common ones. */
  readonly common: readonly (readonly [position: number, name: string])[]
  readonly labelCount: number
  /** CRI cuts seconds to whole ones; this makes them nanoseconds again. */
  readonly scale: bigint
}

export type Descriptors = ReadonlyMap<string, Described>

const isCommon = (key: string): boolean => (commonLabelKeys as readonly string[]).includes(key)

const otherFamily = (name: string): Omit<Family, 'help' | 'type'> => ({
  name,
  decimals: 0,
  extraLabels: [],
  level: 'container+pod',
  group: 'always',
  enabledByDefault: true,
})

const validName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const validLabel = /^[a-zA-Z_][a-zA-Z0-9_]*$/

function describe({ name, help, labelKeys }: MetricDescriptor): Described | undefined {
  if (!validName.test(name) || !labelKeys.every((key) => validLabel.test(key))) return undefined
  const known = familyOf(name)
  return {
    family: { ...(known ?? otherFamily(name)), type: known?.type ?? 'gauge', help: `[INTERNAL] ${help}` },
    extra: [...labelKeys.entries()].filter(([, key]) => !isCommon(key)),
    common: [...labelKeys.entries()].filter(([, key]) => isCommon(key)),
    labelCount: labelKeys.length,
    scale: 10n ** BigInt(known?.decimals ?? 0),
  }
}

export const describeAll = (descriptors: readonly MetricDescriptor[]): Descriptors =>
  new Map(
    descriptors.flatMap((d) => {
      const described = describe(d)
      return described === undefined ? [] : [[d.name, described] as const]
    }),
  )

/** A family that only the runtime knows has the type that its metrics say. */
export const typedFamily = ({ family }: Described, { name, metricType }: Metric): Family =>
  familyOf(name) !== undefined || metricType !== MetricType.COUNTER ? family : { ...family, type: 'counter' }

export interface LabelFixes {
  /** `8:0` -> `/dev/sda`; undefined: it has no name. */
  readonly deviceName: (majorMinor: string) => string | undefined
}

/** CRI-O writes operations in lower case; both runtimes give devices by their numbers. */
function fixValue(name: string, value: string, { deviceName }: LabelFixes): string {
  if (name === 'operation') return value.slice(0, 1).toUpperCase() + value.slice(1)
  if (name === 'device' && /^\d+:\d+$/.test(value)) return deviceName(value) ?? value
  return value
}

/** The runtime's own values of the common labels, by name. */
export const commonLabelsOf = (
  { common }: Described,
  labelValues: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(common.map(([i, name]) => [name, labelValues[i] ?? '']))

/** Undefined: the metric has none but the common labels. */
export function extraLabelsOf(
  { family, extra }: Pick<Described, 'family' | 'extra'>,
  labelValues: readonly string[],
  fixes: LabelFixes,
): ExtraLabels | undefined {
  if (extra.length === 0)
    return family.name === cpuFamilies.container_cpu_usage_seconds_total.name ? cpuTotal : undefined
  return extraLabels(
    Object.fromEntries(extra.map(([i, name]) => [name, fixValue(name, labelValues[i] ?? '', fixes)])),
  )
}

// What a metric family is: its name and everything that does not change from one series to the next; short ways to define one.
type MetricGroup =
  | 'always'
  | 'cpu'
  | 'cpuLoad'
  | 'disk'
  | 'diskIO'
  | 'hugetlb'
  | 'memory'
  | 'network'
  | 'oom_event'
  | 'pressure'
  | 'process'

/** Whose series it is: of containers, of pods, of both, or of the node. */
type MetricLevel = 'container' | 'pod' | 'container+pod' | 'node'

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge'
  readonly help: string
  /** Decimal places of the whole numbers that are kept: 9 for nanoseconds shown as seconds. */
  readonly decimals: 0 | 9
  /** Labels besides container, id, image, name, namespace and pod. */
  readonly extraLabels: readonly string[]
  readonly level: MetricLevel
  readonly group: MetricGroup
  /** False: only with its switch. */
  readonly enabledByDefault: boolean
}

/** Labels that only some series of a family differ in; made once and shared, so that a series costs no new object. */
export interface ExtraLabels {
  /** Unique for these names and values. */
  readonly key: string
  /** Sorted by name. */
  readonly pairs: readonly (readonly [name: string, value: string])[]
}

export function extraLabels(labels: Readonly<Record<string, string>>): ExtraLabels {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))
  return { key: JSON.stringify(pairs), pairs }
}

/** Takes one value of a family. A value is a whole number of the family's smallest unit. */
export type Emit = (family: Family, value: bigint, extra?: ExtraLabels) => void

type Options = Partial<Pick<Family, 'extraLabels' | 'enabledByDefault'>>

const make =
  (type: Family['type'], decimals: Family['decimals']) =>
  (name: string, group: MetricGroup, level: MetricLevel, help: string, options: Options = {}): Family => ({
    name,
    type,
    help,
    decimals,
    level,
    group,
    extraLabels: options.extraLabels ?? [],
    enabledByDefault: options.enabledByDefault ?? true,
  })

/** The `Seconds` forms keep nanoseconds and show seconds. */
export const define = {
  counter: make('counter', 0),
  counterSeconds: make('counter', 9),
  gauge: make('gauge', 0),
  gaugeSeconds: make('gauge', 9),
} as const

// Short ways to write a family down.
import type { Family, MetricGroup, MetricLevel } from './family.js'

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

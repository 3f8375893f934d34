// The memory of one cgroup as a bar: how much is used and of what kind, where protection ends and where throttling and the
// limit begin.
import type { Amount, LiveMemory, LivePod } from '../../core/dashboard/model.js'
import { amountOf, bytesText, exactTitle } from '../format.js'
import { memo } from '../memo.js'

interface BarProps {
  readonly memory: LiveMemory | null
  readonly label: string
  /** A container among others of its pod: thinner, with its name. */
  readonly container?: string
  /** Right end of the bar in bytes; bars of one pod share it. */
  readonly scale: number
}

/** Beyond every threshold and the usage of a pod and all its containers, so that their bars can be compared. */
export function scaleOf({ values, containers }: Pick<LivePod, 'values' | 'containers'>): number {
  const all = [values.memory, ...containers.map((c) => c.values.memory)].filter((m) => m !== null)
  const thresholds = all.flatMap((m) => [m.min, m.low, m.high, m.max].map((a) => amountOf(a) ?? 0))
  const usages = all.map((m) => amountOf(m.usage) ?? 0)
  return Math.max(Math.max(...thresholds, 1) * 1.06, Math.max(...usages, 1) * 1.15)
}

const values = (m: LiveMemory) =>
  [
    ['working set', m.workingSet, 'ws'],
    ['cache', m.cache, 'cache'],
    ['min', m.min, 'min'],
    ['low', m.low, 'low'],
    ['high', m.high, 'high'],
    ['max', m.max, 'max'],
  ] as const

/** The files have `max`, which is confusing next to the limit named max. */
const thresholdText = (amount: Amount | null): string => (amount === 'max' ? 'none' : bytesText(amount))

function sentence(m: LiveMemory): string {
  return values(m)
    .map(([name, value]) => `${name} ${thresholdText(value)}`)
    .join(', ')
}

function Bar({ memory: m, label, scale, container }: BarProps) {
  const slim = container !== undefined
  if (m === null) return <p class="empty">no memory values: the cgroup is not readable</p>
  const at = (amount: number): string => `${Math.min(100, (amount * 100) / scale).toFixed(2)}%`
  const [usage, set, cache] = [m.usage, m.workingSet, m.cache].map((a) => amountOf(a) ?? 0) as [
    number,
    number,
    number,
  ]
  const zone = (name: string, amount: number | undefined) =>
    amount !== undefined && amount > 0 && <span class={`zone ${name}`} style={{ width: at(amount) }} />
  const mark = (name: string, amount: number | undefined) =>
    amount !== undefined && (
      <span class={`mark ${name}`} style={{ left: at(amount) }}>
        {!slim && <i>{name}</i>}
      </span>
    )
  return (
    <div class={slim ? 'memory slim' : 'memory'}>
      <div class="bar" role="img" aria-label={`${label}: ${sentence(m)}`}>
        {zone('low', amountOf(m.low))}
        {zone('min', amountOf(m.min))}
        <span class="fill usage" style={{ width: at(usage) }} />
        <span class="fill set" style={{ width: at(set) }} />
        <span
          class="cache"
          style={{ left: at(Math.max(0, usage - cache)), width: at(Math.min(cache, usage)) }}
        />
        {mark('high', amountOf(m.high))}
        {mark('max', amountOf(m.max))}
      </div>
      <div class="below">
        {slim && <span class="container-name">{container}</span>}
        <dl class="values">
          {values(m).map(([name, value, key]) => (
            <div key={key} class={`value ${key}`}>
              <dt>{name}</dt>
              <dd data-file={key} title={exactTitle(value)}>
                {thresholdText(value)}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  )
}

export const MemoryBar = memo(Bar)

export function BarLegend() {
  return (
    <ul class="key legend" aria-label="How to read a bar">
      <li>
        <span class="swatch set" /> working set
      </li>
      <li>
        <span class="swatch usage" /> other usage, reclaimed first
      </li>
      <li>
        <span class="swatch cache" /> page cache in it
      </li>
      <li>
        <span class="swatch min" /> memory.min: never reclaimed
      </li>
      <li>
        <span class="swatch low" /> memory.low: reclaimed last
      </li>
      <li>
        <span class="swatch high" /> memory.high: throttled above this
      </li>
      <li>
        <span class="swatch max" /> memory.max: the limit
      </li>
    </ul>
  )
}

// The pods of the node, as bars or as a table. Sorted by severity.
import { useEffect, useRef, useState } from 'preact/hooks'
import { hasList, type LivePod, type LiveRuntime } from '../../core/dashboard/model.js'
import { bytesRate, milliText, nothing, percentText, podsUnknown, rateText } from '../format.js'
import { memo } from '../memo.js'
import { podLink } from '../route.js'
import { BarLegend, MemoryBar, scaleOf } from './memory-bar.js'
import { Next } from './next.js'
import { PodTable } from './pod-table.js'

type Order = 'attention' | 'memory' | 'cpu' | 'restarts' | 'age' | 'name'
type Layout = 'bars' | 'table'

const urgency = { act: 0, watch: 1, calm: 2 } as const
/** What is not known comes last. */
const used = (p: LivePod): number => Number(p.values.memory?.usage ?? -1)
const orders: Readonly<Record<Order, (a: LivePod, b: LivePod) => number>> = {
  attention: (a, b) => urgency[a.next.level] - urgency[b.next.level],
  memory: (a, b) => used(b) - used(a),
  cpu: (a, b) => (b.values.cpu?.milli ?? -1) - (a.values.cpu?.milli ?? -1),
  restarts: (a, b) => b.restarts - a.restarts,
  age: (a, b) => (a.createdAt < b.createdAt ? 1 : -1),
  name: () => 0,
}

const hasWords = (pod: LivePod, filter: string): boolean => {
  const text = `${pod.namespace}/${pod.name} ${pod.containers.map((c) => c.name).join(' ')}`.toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** More bars would make the page slow; the filter and the table reach the rest. */
const shownAtFirst = 120
/** With more pods than this the table comes first. */
const tableFrom = 30

/** `/` goes to the field, as in many programs, unless something is being typed. */
function useSlash(field: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      field.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [field])
}

interface PodsProps {
  readonly pods: readonly LivePod[]
  readonly runtime: LiveRuntime
  readonly now: number
}

export function Pods({ pods, runtime, now }: PodsProps) {
  const [filter, setFilter] = useState('')
  const [order, setOrder] = useState<Order>('attention')
  const [showsAll, setShowsAll] = useState(false)
  const [chosen, setChosen] = useState<Layout>()
  const field = useRef<HTMLInputElement>(null)
  useSlash(field)
  const layout = chosen ?? (pods.length > tableFrom ? 'table' : 'bars')
  const found = pods.filter((p) => hasWords(p, filter)).toSorted(orders[order])
  const shown = showsAll || layout === 'table' ? found : found.slice(0, shownAtFirst)
  return (
    <section aria-labelledby="pods-title">
      <div class="bar-of-tools">
        <h2 id="pods-title">
          Pods{' '}
          <span class="count">
            {!hasList(runtime) ? nothing : filter === '' ? pods.length : `${found.length} of ${pods.length}`}
          </span>
        </h2>
        <label>
          Find{' '}
          <input
            ref={field}
            type="search"
            value={filter}
            placeholder="pod, container ( / )"
            title="Words of the name, the namespace or a container. Key: /"
            onInput={(e) => setFilter(e.currentTarget.value)}
          />
        </label>
        <label>
          Sort by{' '}
          <select value={order} onChange={(e) => setOrder(e.currentTarget.value as Order)}>
            <option value="attention">severity</option>
            <option value="memory">memory</option>
            <option value="cpu">CPU</option>
            <option value="restarts">restarts</option>
            <option value="age">age</option>
            <option value="name">name</option>
          </select>
        </label>
        <fieldset class="choice">
          <legend class="unseen">Show pods as</legend>
          {(['bars', 'table'] as const).map((name) => (
            <button key={name} type="button" aria-pressed={layout === name} onClick={() => setChosen(name)}>
              {name}
            </button>
          ))}
        </fieldset>
      </div>
      {pods.length > 0 && layout === 'bars' && <BarLegend />}
      {pods.length === 0 ? (
        <p class="empty">{hasList(runtime) ? 'No pods are running on this node.' : podsUnknown}</p>
      ) : found.length === 0 ? (
        <p class="empty">No pods match.</p>
      ) : layout === 'table' ? (
        <PodTable pods={shown} now={now} />
      ) : (
        <ul class="pods">
          {shown.map((pod) => (
            <PodRow key={pod.id} pod={pod} />
          ))}
        </ul>
      )}
      {shown.length < found.length && (
        <button type="button" onClick={() => setShowsAll(true)}>
          Show the other {found.length - shown.length}
        </button>
      )}
    </section>
  )
}

const PodRow = memo(({ pod }: { readonly pod: LivePod }) => (
  <li class={`panel pod ${pod.next.level}`} data-pod={`${pod.namespace}/${pod.name}`}>
    <div class="pod-head">
      <a href={podLink(pod)} class="pod-name">
        <span class="dim">{pod.namespace}/</span>
        {pod.name}
      </a>
      {pod.qosClass !== null && <span class="chip">{pod.qosClass}</span>}
      {pod.phase !== 'Running' && <span class="chip">{pod.phase}</span>}
      <span class="space" />
      {pod.restarts > 0 && <Small name="restarts" value={String(pod.restarts)} />}
      <Small name="CPU" value={milliText(pod.values.cpu?.milli)} />
      <Small name="net" value={rateOf(pod.network?.rxPerSecond, pod.network?.txPerSecond)} />
      <Small name="disk" value={rateOf(pod.values.io?.readPerSecond, pod.values.io?.writePerSecond)} />
      <Small name="throttles/s" value={rateText(pod.values.memory?.throttlesPerSecond)} />
      {pod.values.pressure?.memory !== undefined && pod.values.pressure?.memory !== null && (
        <Small name="mem PSI" value={percentText(pod.values.pressure.memory.some)} />
      )}
    </div>
    <Next next={pod.next} />
    <MemoryBar memory={pod.values.memory} label={`Memory of pod ${pod.name}`} scale={scaleOf(pod)} />
    {pod.containers.map((c) => (
      <div key={c.id} class="container" data-container={c.name}>
        <MemoryBar
          memory={c.values.memory}
          label={`Memory of container ${c.name}`}
          scale={scaleOf(pod)}
          container={c.name}
        />
      </div>
    ))}
  </li>
))

/** Both directions together; nothing known is not 0. */
const rateOf = (a: number | null | undefined, b: number | null | undefined): string =>
  bytesRate(a === undefined || a === null || b === undefined || b === null ? null : a + b)

const Small = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <span class="small" data-small={name}>
    <span class="dim">{name}</span> {value}
  </span>
)

// The pods of the node, each as bars. Sorted by severity.
import { useState } from 'preact/hooks'
import { hasList, type LivePod, type LiveRuntime } from '../../core/dashboard/model.js'
import { milliText, nothing, percentText, podsUnknown, rateText } from '../format.js'
import { memo } from '../memo.js'
import { podLink } from '../route.js'
import { BarLegend, MemoryBar, scaleOf } from './memory-bar.js'
import { Next } from './next.js'

type Order = 'attention' | 'memory' | 'cpu' | 'name'

const urgency = { act: 0, watch: 1, calm: 2 } as const
const used = (p: LivePod): number => Number(p.values.memory?.usage ?? 0)
const orders: Readonly<Record<Order, (a: LivePod, b: LivePod) => number>> = {
  attention: (a, b) => urgency[a.next.level] - urgency[b.next.level],
  memory: (a, b) => used(b) - used(a),
  cpu: (a, b) => (b.values.cpu?.milli ?? 0) - (a.values.cpu?.milli ?? 0),
  name: () => 0,
}

const hasWords = (pod: LivePod, filter: string): boolean => {
  const text = `${pod.namespace}/${pod.name} ${pod.containers.map((c) => c.name).join(' ')}`.toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** More would make the page slow; the filter reaches the rest. */
const shownAtFirst = 120

interface PodsProps {
  readonly pods: readonly LivePod[]
  readonly runtime: LiveRuntime
}

export function Pods({ pods, runtime }: PodsProps) {
  const [filter, setFilter] = useState('')
  const [order, setOrder] = useState<Order>('attention')
  const [showsAll, setShowsAll] = useState(false)
  const found = pods.filter((p) => hasWords(p, filter)).toSorted(orders[order])
  const shown = showsAll ? found : found.slice(0, shownAtFirst)
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
            type="search"
            value={filter}
            placeholder="name, namespace, container"
            onInput={(e) => setFilter(e.currentTarget.value)}
          />
        </label>
        <label>
          Sort by{' '}
          <select value={order} onChange={(e) => setOrder(e.currentTarget.value as Order)}>
            <option value="attention">severity</option>
            <option value="memory">memory</option>
            <option value="cpu">CPU</option>
            <option value="name">name</option>
          </select>
        </label>
      </div>
      {pods.length > 0 && <BarLegend />}
      {pods.length === 0 ? (
        <p class="empty">{hasList(runtime) ? 'No pods are running on this node.' : podsUnknown}</p>
      ) : found.length === 0 ? (
        <p class="empty">No pods match.</p>
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
      <span class="space" />
      <Small name="CPU" value={milliText(pod.values.cpu?.milli)} />
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

const Small = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <span class="small" data-small={name}>
    <span class="dim">{name}</span> {value}
  </span>
)

// How much time the charts show, and the time before the page was opened, which the server keeps.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { LiveTrack } from '../core/dashboard/model.js'
import { type History, since, type Track } from './history.js'

const ranges = [
  { seconds: 300, title: '5 minutes' },
  { seconds: 900, title: '15 minutes' },
  { seconds: 3600, title: '60 minutes' },
] as const

/** The choice lasts as long as the page, across its views. */
let chosen: number = ranges[1].seconds

function useRange(): [number, (seconds: number) => void] {
  const [seconds, setSeconds] = useState(chosen)
  return [
    seconds,
    (next) => {
      chosen = next
      setSeconds(next)
    },
  ]
}

const RangeChoice = ({
  seconds,
  onChange,
}: {
  readonly seconds: number
  readonly onChange: (seconds: number) => void
}) => (
  <label>
    Last{' '}
    <select value={seconds} onChange={(e) => onChange(Number(e.currentTarget.value))}>
      {ranges.map((r) => (
        <option key={r.seconds} value={r.seconds}>
          {r.title}
        </option>
      ))}
    </select>
  </label>
)

/** Asked once for each track; a server that has nothing of it yet has nothing to add. */
const asked = new WeakMap<History, Set<string>>()

function useOlder(history: History, id: string | undefined): void {
  useEffect(() => {
    const known = asked.get(history) ?? new Set<string>()
    asked.set(history, known)
    if (known.has(id ?? '')) return
    known.add(id ?? '')
    void fetch(id === undefined ? '/live/history' : `/live/history/${encodeURIComponent(id)}`, {
      headers: { accept: 'application/json' },
    })
      .then(async (response) => {
        if (response.ok) history.addOlder(id, (await response.json()) as LiveTrack)
      })
      .catch(() => undefined)
  }, [history, id])
}

/** Charts of the chosen time. `of` is a pod's id, or undefined for the node. */
export function OverTime({
  history,
  of,
  children,
}: {
  readonly history: History
  readonly of: string | undefined
  readonly children: (track: Track) => ComponentChildren
}) {
  const [seconds, setSeconds] = useRange()
  useOlder(history, of)
  const whole = of === undefined ? history.node : history.pod(of)
  if (whole === undefined) return null
  return (
    <section aria-labelledby="over-time">
      <div class="bar-of-tools">
        <h2 id="over-time">Over time</h2>
        <RangeChoice seconds={seconds} onChange={setSeconds} />
      </div>
      <div class="charts">{children(since(whole, seconds))}</div>
    </section>
  )
}

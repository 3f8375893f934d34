// The last events of a pod, as the kubelet recorded them: how long a pull took, which probe failed, why a container ended.
import { useEffect, useState } from 'preact/hooks'
import type { LivePod } from '../../core/dashboard/model.js'
import { ageText } from '../format.js'
import { Columns } from './columns.js'
import { Scroll } from './scroll.js'

interface PodEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly container?: string
  readonly count: number
  readonly lastTimestamp: string
}

const refreshMs = 5_000

/** Undefined: the kubelet does not know the pod yet, or not any more. */
async function readEvents(pod: LivePod, signal: AbortSignal): Promise<readonly PodEvent[] | undefined> {
  const path = [pod.namespace, pod.name].map(encodeURIComponent).join('/')
  const response = await fetch(`/podevents/${path}`, { signal, headers: { accept: 'application/json' } })
  if (!response.ok) return undefined
  return ((await response.json()) as { readonly items: readonly PodEvent[] }).items
}

export function Events({ pod, now }: { readonly pod: LivePod; readonly now: number }) {
  const [events, setEvents] = useState<readonly PodEvent[]>()
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setTurn((n) => n + 1), refreshMs)
    return () => clearInterval(timer)
  }, [pod.id])
  useEffect(() => {
    const gone = new AbortController()
    // A server that does not answer is shown by the head of the page; the last events stay.
    readEvents(pod, gone.signal).then(setEvents, () => undefined)
    return () => gone.abort()
  }, [pod.id, turn])
  if (events === undefined) return null
  return (
    <section aria-labelledby="pod-events">
      <h2 id="pod-events">Events</h2>
      {events.length === 0 ? (
        <p class="empty">No events since the kubelet started.</p>
      ) : (
        <Scroll label="Events">
          <table>
            <Columns names={['Age #', 'Type', 'Reason', 'Container', 'Message', 'Count #']} />
            <tbody>
              {events.toReversed().map((e) => (
                <tr key={`${e.lastTimestamp} ${e.reason} ${e.message}`}>
                  <td class="n">{ageText(e.lastTimestamp, now)}</td>
                  <td>{e.type}</td>
                  <th scope="row">{e.reason}</th>
                  <td>{e.container ?? ''}</td>
                  <td>{e.message}</td>
                  <td class="n">{e.count}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  )
}

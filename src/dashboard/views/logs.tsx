// The end of a container's log, read on demand, and followed until it is told to stop.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { LivePod } from '../../core/dashboard/model.js'

interface LogLine {
  readonly time: string
  readonly stream: string
  readonly text: string
}

type Answer = { readonly path: string; readonly lines: readonly LogLine[] } | { readonly absent: string }

/** Colours of a terminal mean nothing here. */
const plain = (text: string): string => text.replace(escapes, '')
const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g')

async function readLog(pod: LivePod, container: string, signal: AbortSignal): Promise<Answer> {
  const path = [pod.namespace, pod.name, container].map(encodeURIComponent).join('/')
  const response = await fetch(`/live/logs/${path}`, { signal, headers: { accept: 'application/json' } })
  if (!response.ok) return { absent: `The server responded with ${response.status}.` }
  return (await response.json()) as Answer
}

const followMs = 2_000

export function Logs({ pod }: { readonly pod: LivePod }) {
  const [container, setContainer] = useState<string>()
  const [turn, setTurn] = useState(0)
  const [answer, setAnswer] = useState<Answer>()
  const [follows, setFollows] = useState(true)
  useEffect(() => {
    if (container === undefined || !follows) return
    const timer = setInterval(() => setTurn((n) => n + 1), followMs)
    return () => clearInterval(timer)
  }, [container, follows])
  useEffect(() => {
    if (container === undefined) return
    const gone = new AbortController()
    readLog(pod, container, gone.signal).then(setAnswer, (e: unknown) => {
      if (!gone.signal.aborted) setAnswer({ absent: `The log could not be read: ${String(e)}` })
    })
    return () => gone.abort()
  }, [container, turn, pod.id])
  return (
    <section aria-labelledby="pod-logs">
      <div class="bar-of-tools">
        <h2 id="pod-logs">Log</h2>
        {pod.containers.map((c) => (
          <button
            key={c.id}
            type="button"
            aria-pressed={container === c.name}
            onClick={() => {
              setContainer(c.name)
              setTurn(turn + 1)
            }}
          >
            {c.name}
          </button>
        ))}
        {container !== undefined && (
          <button type="button" aria-pressed={follows} onClick={() => setFollows(!follows)}>
            follow
          </button>
        )}
      </div>
      {container === undefined ? (
        <p class="dim">Choose a container to show the end of its log.</p>
      ) : answer === undefined ? (
        <p class="empty">Reading …</p>
      ) : 'absent' in answer ? (
        <p class="empty">{answer.absent}</p>
      ) : (
        <Lines path={answer.path} lines={answer.lines} follows={follows} />
      )}
    </section>
  )
}

/** It scrolls, so the keyboard must get there. */
const reachable = { tabIndex: 0 }

interface LinesProps {
  readonly path: string
  readonly lines: readonly LogLine[]
  readonly follows: boolean
}

function Lines({ path, lines, follows }: LinesProps) {
  const place = useRef<HTMLElement>(null)
  const newest = lines.at(-1)
  // The newest line is what people come for. Whoever does not follow reads where they are.
  useLayoutEffect(() => {
    if (follows && place.current !== null) place.current.scrollTop = place.current.scrollHeight
  }, [newest?.time, newest?.text, lines.length, follows])
  return (
    <>
      <p class="dim path">{path}</p>
      {lines.length === 0 ? (
        <p class="empty">The log is empty.</p>
      ) : (
        <section class="log" aria-label="Log lines" ref={place} {...reachable}>
          <ol>
            {lines.map((line, i) => (
              <li key={`${line.time} ${i}`} class={line.stream === 'stderr' ? 'stderr' : ''}>
                <time>{line.time.slice(11, 19)}</time> <span class="text">{plain(line.text)}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  )
}

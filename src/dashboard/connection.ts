// The connection to the server: events while it is up, retries when it is down, and a message when the session has expired,
// which a retry would not fix.
import type { LiveChange } from '../core/dashboard/model.js'

export type LineState = 'connecting' | 'live' | 'away' | 'login' | 'forbidden'

interface Line {
  close(): void
}

const retryMs = 2_000

/** EventSource does not tell why it was refused; this does. */
async function whyRefused(): Promise<'login' | 'forbidden' | 'away'> {
  try {
    const { status } = await fetch('/live/snapshot', { headers: { accept: 'application/json' } })
    return status === 401 ? 'login' : status === 403 ? 'forbidden' : 'away'
  } catch {
    return 'away'
  }
}

export function openLine(onState: (state: LineState) => void, onChange: (change: LiveChange) => void): Line {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false

  const refused = async (): Promise<void> => {
    const why = await whyRefused()
    if (isClosed) return
    onState(why)
    // A new login in another tab is found out by asking now and then.
    timer = setTimeout(connect, why === 'away' ? retryMs : retryMs * 5)
  }

  function connect(): void {
    source = new EventSource('/live/events')
    source.onopen = () => onState('live')
    source.onmessage = (event: MessageEvent<string>) => onChange(JSON.parse(event.data) as LiveChange)
    source.onerror = () => {
      if (source?.readyState === EventSource.CLOSED) {
        source.close()
        void refused()
      } else onState('away')
    }
  }

  onState('connecting')
  connect()
  return {
    close() {
      isClosed = true
      source?.close()
      clearTimeout(timer)
    },
  }
}

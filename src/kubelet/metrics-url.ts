// Where the CRI implementation serves its own container metrics (KEP-2371), as its verbose Status says. Asked again when the
// runtime comes back, because it may be another one.
import type { Log } from '../ports/log.js'
import type { CriClient } from '../ports/runtime.js'

/** An entry of the status's info that says it: `{"metricsUrl": "https://..."}`. */
export function parseMetricsUrl(info: Readonly<Record<string, string>>): string | undefined {
  for (const text of Object.values(info)) {
    let entry: unknown
    try {
      entry = JSON.parse(text)
    } catch {
      continue
    }
    const url = typeof entry === 'object' && entry !== null && 'metricsUrl' in entry ? entry.metricsUrl : null
    if (typeof url === 'string' && /^https?:\/\//.test(url)) return url
  }
  return undefined
}

interface MetricsUrlOptions {
  readonly client: CriClient
  readonly log: Log
  readonly signal: AbortSignal
}

const timeoutMs = 5_000

/** The result is what is known at that moment; undefined: the runtime names none. */
export function watchMetricsUrl({ client, log, signal }: MetricsUrlOptions): () => string | undefined {
  let known: string | undefined
  const ask = (): void => {
    client.runtime.status({ verbose: true }, { timeoutMs, signal }).then(
      ({ info }) => {
        const found = parseMetricsUrl(info)
        if (found !== undefined && found !== known)
          log.info('the runtime serves container metrics of its own', { url: found })
        known = found
      },
      (error: unknown) => log.debug('failed to ask the runtime for its metrics', { error }),
    )
  }
  let wasLost = false
  const stop = client.onState((state) => {
    if (state === 'idle' || state === 'backoff') wasLost = true
    if (state !== 'ready' || !wasLost) return
    wasLost = false
    ask()
  })
  signal.addEventListener('abort', stop, { once: true })
  ask()
  return () => known
}

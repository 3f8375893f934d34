// The pods of one node from the API server: a list in pages, then a watch with bookmarks that goes on where it ended. What an
// answer means is pod-watch-state.ts; this file owns connections and waiting.
import { asKeelsonError, keelsonError } from '../../core/errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Log } from '../../ports/log.js'
import type { PodSource } from '../../ports/pod-source.js'
import type { ApiAccess } from './api-access.js'
import { getJson, getJsonLines } from './http-get.js'
import { emptyWatch, takeEvent, takeList, type WatchState } from './pod-watch-state.js'

export interface PodWatchOptions {
  readonly access: ApiAccess
  readonly nodeName: string
  readonly clock: Clock
  readonly log: Log
  /** The server ends a watch after this long. Default 300 s. */
  readonly watchSeconds?: number
}

const listTimeoutMs = 30_000
const maxListBytes = 64 * 1024 * 1024
const maxEventBytes = 8 * 1024 * 1024
const pageSize = '250'
const firstWaitMs = 500
const longestWaitMs = 30_000
const gone = 410

const isGone = (e: unknown): boolean => asKeelsonError(e).details['status'] === gone

export function createPodWatch(options: PodWatchOptions): PodSource {
  const { access, clock, log, nodeName, watchSeconds = 300 } = options
  let state: WatchState = emptyWatch
  let listed = false

  const urlOf = (query: Readonly<Record<string, string>>): URL => {
    const url = new URL(`${access.server.pathname.replace(/\/$/, '')}/api/v1/pods`, access.server)
    url.search = new URLSearchParams({ fieldSelector: `spec.nodeName=${nodeName}`, ...query }).toString()
    return url
  }

  async function list(signal: AbortSignal): Promise<void> {
    let gathered = emptyWatch
    for (let next: string | undefined = ''; next !== undefined; ) {
      const url = urlOf({ limit: pageSize, ...(next === '' ? {} : { continue: next }) })
      const tls = await access.credentials()
      const answer = await getJson(url, { tls, signal, timeoutMs: listTimeoutMs, maxBytes: maxListBytes })
      const page = takeList(gathered, answer)
      gathered = page.state
      next = page.next
    }
    state = gathered
    listed = true
  }

  /** Returns when the server ended the stream in good order. */
  async function watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    const url = urlOf({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: state.resourceVersion ?? '',
      timeoutSeconds: String(watchSeconds),
    })
    const tls = await access.credentials()
    // The server's own time, and a little for it to say so.
    const timeoutMs = (watchSeconds + 30) * 1000
    for await (const event of getJsonLines(url, { tls, signal, timeoutMs, maxBytes: maxEventBytes })) {
      const step = takeEvent(state, event)
      if (step.kind === 'expired')
        throw keelsonError('companion.source', 'the watch has expired', { status: gone })
      if (step.kind === 'failed') throw keelsonError('companion.source', `watch pods: ${step.message}`)
      state = step.state
      if (step.kind === 'changed') onChange()
    }
  }

  return {
    teller: 'api',
    current: () => (listed ? [...state.pods.values()] : undefined),
    refresh: list,
    async follow(onChange, signal) {
      let waitMs = firstWaitMs
      while (!signal.aborted) {
        try {
          if (state.resourceVersion === undefined) {
            await list(signal)
            onChange()
          }
          await watch(onChange, signal)
          waitMs = firstWaitMs
          // A server that ends every watch at once must not be asked without a pause.
          await clock.sleep(waitMs, signal).catch(() => undefined)
        } catch (e) {
          if (signal.aborted) return
          if (isGone(e)) {
            log.debug('pod watch expired; listing again')
            state = { ...state, resourceVersion: undefined }
          } else log.warn('pod watch failed; retrying', { error: asKeelsonError(e), waitMs })
          await clock.sleep(waitMs, signal).catch(() => undefined)
          waitMs = Math.min(waitMs * 2, longestWaitMs)
        }
      }
    },
  }
}

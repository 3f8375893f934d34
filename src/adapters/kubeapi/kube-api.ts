// The client of the API server: objects by path, each call with a deadline and sent again where that helps. Small on purpose:
// being a member of a cluster must not cost a node more memory than its pods can spare.
import type { KubeObject } from '../../core/kube/objects.js'
import { callFailureOf, callStatusOf, retryWaitMs } from '../../core/kube/retry.js'
import { parseListPage } from '../../core/kube/watch-event.js'
import type { Clock } from '../../ports/clock.js'
import type { ApiCallOptions, KubeApi, PatchKind, Selection } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import { parseJson, readBody, readLines, refusal } from './call.js'
import type { Answer } from './channel.js'
import { createConnection } from './connection.js'
import { createCredentials } from './credentials.js'
import type { ApiAccess } from './kubeconfig.js'
import { createRecovery } from './recovery.js'
import { followObjects } from './reflector.js'
import { unreachable } from './unreachable.js'

/** One finished try, for metrics. */
export interface CallReport {
  readonly host: string
  readonly method: string
  /** HTTP status, or `<error>` as upstream counts a missing answer. */
  readonly code: string
  readonly seconds: number
}

interface KubeApiOptions {
  readonly access: ApiAccess
  readonly clock: Clock
  readonly log: Log
  readonly userAgent: string
  readonly report?: (call: CallReport) => void
  readonly random?: () => number
  readonly env?: NodeJS.ProcessEnv
  readonly watch?: Partial<WatchLimits>
}

export interface WatchLimits {
  /** The server ends a watch after a time between this and twice this. */
  readonly seconds: number
  /** A server that keeps watches in memory sends a bookmark each minute; two missed ones mean a dead connection. */
  readonly idleMs: number
  /** Objects per page of a list. */
  readonly pageSize: number
}

const defaultWatch: WatchLimits = { seconds: 300, idleMs: 150_000, pageSize: 500 }
const defaultTimeoutMs = 30_000
/** Until a watch begins: one that hangs in the moment when the server comes back must not hang long. */
const openTimeoutMs = 15_000
/** A page of 500 large pods has some 10 MiB. */
const maxAnswerBytes = 64 * 1024 * 1024
const maxLineBytes = 8 * 1024 * 1024

const contentTypes: Readonly<Record<PatchKind, string>> = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
}

interface Call extends ApiCallOptions {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly contentType?: string
  readonly idempotent?: boolean
}

export interface OpenKubeApi extends KubeApi {
  /** When the client certificate in use ends, in ms since 1970; undefined: there is none, or it was not needed yet. */
  certificateExpiresMs(): number | undefined
  /** The server's clock less ours, by the date of its answer; undefined: it sent none. */
  clockSkewMs(options: ApiCallOptions): Promise<number | undefined>
}

export function createKubeApi(o: KubeApiOptions): OpenKubeApi {
  const { access, clock, log, random = Math.random } = o
  const limits = { ...defaultWatch, ...o.watch }
  const server = access.server.origin
  const credentials = createCredentials({ ...o, nowMs: () => Number(clock.nowNanos() / 1_000_000n) })
  const recovery = createRecovery(clock, random)
  const connection = createConnection(access, credentials, o.userAgent)
  const nowMs = (): number => Number(clock.monotonicNanos() / 1_000_000n)

  const open = async (call: Call, timeoutMs: number): Promise<Answer> => {
    const doing = doingOf(call)
    const begun = nowMs()
    const done = (code: string): void =>
      o.report?.({ host: access.server.host, method: call.method, code, seconds: (nowMs() - begun) / 1000 })
    let answer: Answer
    try {
      const { body, ...rest } = call
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      answer = await connection.send({ ...rest, ...text, timeoutMs })
    } catch (e) {
      done('<error>')
      recovery.failed()
      throw callFailureOf(e) === undefined && isOwnError(e) ? e : unreachable(doing, server, e)
    }
    done(String(answer.status))
    recovery.answered()
    if (answer.status < 300) return answer
    if (answer.status === 401) credentials.refused()
    throw await refusal(doing, answer, { timeoutMs: Math.min(timeoutMs, 5_000), signal: call.signal })
  }

  const once = async (call: Call, timeoutMs: number): Promise<string> => {
    const begun = nowMs()
    const { body } = await open(call, timeoutMs)
    try {
      const rest = Math.max(1, timeoutMs - (nowMs() - begun))
      return await readBody(body, { maxBytes: maxAnswerBytes, timeoutMs: rest, signal: call.signal })
    } catch (e) {
      throw unreachable(doingOf(call), server, e)
    }
  }

  /** Tries until the deadline. A try that needs longer than what is left fails with its own error, not with ours. */
  const send = async (call: Call): Promise<string> => {
    const end = nowMs() + (call.timeoutMs ?? defaultTimeoutMs)
    for (let failures = 1; ; failures++) {
      try {
        return await once(call, Math.max(1, end - nowMs()))
      } catch (e) {
        const failure = callFailureOf(e)
        if (call.signal.aborted || failure === undefined || call.retry === 'never') throw e
        // Once more with fresh credentials: a token may have been replaced between two calls.
        const isFirstRefusal = failure.status === 401 && failures === 1
        const waitMs = isFirstRefusal
          ? 0
          : retryWaitMs({ failure, failures, idempotent: call.idempotent ?? false, random: random() })
        if (waitMs === undefined || nowMs() + waitMs >= end) throw e
        log.debug('a call to the API server failed; retrying', {
          method: call.method,
          path: call.path,
          waitMs,
        })
        await clock.sleep(waitMs, call.signal)
      }
    }
  }
  const sendJson = async <T>(call: Call): Promise<T> => parseJson(doingOf(call), await send(call)) as T
  const orMissing = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work
    } catch (e) {
      if (callStatusOf(e) === 404) return undefined
      throw e
    }
  }

  const listPage = async (
    path: string,
    selection: Selection,
    next: string | undefined,
    options: ApiCallOptions,
  ) =>
    parseListPage(
      await sendJson({
        ...options,
        method: 'GET',
        path: withQuery(path, { ...selection, limit: String(limits.pageSize), continue: next }),
        idempotent: true,
      }),
    )
  const api: OpenKubeApi = {
    server,
    get: <T extends KubeObject>(path: string, options: ApiCallOptions) =>
      orMissing(sendJson<T>({ ...options, method: 'GET', path, idempotent: true })),
    async list(path, selection, options) {
      const items: KubeObject[] = []
      for (let next: string | undefined; ; ) {
        const page = await listPage(path, selection, next, options)
        items.push(...page.items)
        if (page.next === undefined) return { items, resourceVersion: page.resourceVersion }
        next = page.next
      }
    },
    create: (path, object, options) => sendJson({ ...options, method: 'POST', path, body: object }),
    // The version in the object makes a second try harmless.
    replace: (path, object, options) =>
      sendJson({
        ...options,
        method: 'PUT',
        path,
        body: object,
        idempotent: object.metadata?.resourceVersion !== undefined,
      }),
    patch: (path, kind, body, options) =>
      sendJson({
        ...options,
        method: 'PATCH',
        path,
        body,
        contentType: contentTypes[kind],
        idempotent: kind !== 'json',
      }),
    async remove(path, { uid, gracePeriodSeconds, ...options }) {
      const body = {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
        ...(uid === undefined ? {} : { preconditions: { uid } }),
      }
      const done = await orMissing(send({ ...options, method: 'DELETE', path, body, idempotent: true }))
      return done !== undefined
    },
    text: (path, options) => send({ ...options, method: 'GET', path, idempotent: true }),
    follow: (path, selection, store, signal) =>
      followObjects({
        name: path,
        clock,
        log,
        random,
        rest: recovery.rest,
        signal,
        store,
        list: () => api.list(path, selection, { signal, retry: 'never' }),
        async *watch(resourceVersion) {
          const seconds = Math.round(limits.seconds * (1 + random()))
          const watchPath = withQuery(path, {
            ...selection,
            watch: 'true',
            allowWatchBookmarks: 'true',
            resourceVersion,
            timeoutSeconds: String(seconds),
          })
          const { body } = await open({ method: 'GET', path: watchPath, signal }, openTimeoutMs)
          try {
            for await (const line of readLines(body, { maxLineBytes, idleMs: limits.idleMs, signal }))
              yield parseJson(`watch ${path}`, line)
          } catch (e) {
            throw isOwnError(e) ? e : unreachable(`watch ${path}`, server, e)
          }
        },
      }),
    closeConnections: () => connection.closeAll(),
    close: () => connection.closeAll(),
    certificateExpiresMs: () => credentials.expiresMs(),
    async clockSkewMs({ timeoutMs = defaultTimeoutMs, ...options }) {
      const { headers, body } = await open({ ...options, method: 'GET', path: '/version' }, timeoutMs)
      body.resume()
      const told = Date.parse(headers.date ?? '')
      // Whole seconds: the middle of the second is meant.
      return Number.isNaN(told) ? undefined : told + 500 - Number(clock.nowNanos() / 1_000_000n)
    },
  }
  return api
}

const doingOf = ({ doing, method, path }: Call): string => doing ?? `${method} ${path}`

const isOwnError = (e: unknown): boolean => e instanceof Error && e.name === 'KeelsonError'

function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}

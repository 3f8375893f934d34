// One config map or secret, followed by a watch of its own: a node may not list others. The first read waits for the cache, an
// object that can never change is not watched any more, and a watch that no pod reads rests until the next read.
import { keelsonError } from '../../core/errors.js'
import type { KubeObject } from '../../core/kube/objects.js'
import { collectionPath, type Resource } from '../../core/kube/path.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'

interface WatchedOptions {
  readonly resource: Resource
  readonly namespace: string
  readonly name: string
  readonly api: Pick<KubeApi, 'follow'>
  readonly clock: Clock
  /** The object is another one than before; not called for the first content. */
  readonly onChange: () => void
  /** A watch ended with an error that no retry helps against. */
  readonly onBug: (e: unknown) => void
  readonly signal: AbortSignal
}

export interface WatchedObject<T extends KubeObject> {
  /** Undefined: there is no such object. Rejects when nothing was heard of it in time. */
  read(signal: AbortSignal): Promise<T | undefined>
  /** Ends the watch if nothing was read for so long; the next read begins it again. */
  rest(idleNanos: bigint): void
  close(): void
}

/** The authorizer learns of a pod a moment after the node does: long enough for a second try after its first refusal. */
const firstReadMs = 3_000

export function watchObject<T extends KubeObject & { readonly immutable?: boolean }>(
  o: WatchedOptions,
): WatchedObject<T> {
  const { clock } = o
  let object: T | undefined
  let watch:
    | { readonly stop: AbortController; readonly synced: Promise<void>; hasSynced: boolean }
    | undefined
  let isFinal = false
  let isClosed = false
  let hadContent = false
  let lastRead = clock.monotonicNanos()

  const stop = (): void => {
    watch?.stop.abort()
    watch = undefined
  }
  const take = (found: T | undefined): void => {
    const before = object?.metadata
    const isSame =
      before?.uid === found?.metadata?.uid && before?.resourceVersion === found?.metadata?.resourceVersion
    object = found === undefined ? undefined : withoutHistory(found)
    if (hadContent && !isSame) o.onChange()
    hadContent = true
    isFinal = found?.immutable === true
  }

  const begin = (): void => {
    const own = new AbortController()
    let resolveSynced: () => void = () => undefined
    const synced = new Promise<void>((resolve) => {
      resolveSynced = resolve
    })
    const begun = { stop: own, synced, hasSynced: false }
    watch = begun
    const heard = (found: KubeObject | undefined): void => {
      if (own.signal.aborted) return
      take(found as T | undefined)
      begun.hasSynced = true
      resolveSynced()
      if (isFinal) own.abort()
    }
    const isOwn = ({ metadata }: KubeObject): boolean => metadata?.name === o.name
    o.api
      .follow(
        collectionPath(o.resource, o.namespace),
        { fieldSelector: `metadata.name=${o.name}` },
        {
          replace: (items) => heard(items.find(isOwn)),
          put: (item) => isOwn(item) && heard(item),
          remove: (item) => isOwn(item) && heard(undefined),
        },
        AbortSignal.any([o.signal, own.signal]),
      )
      .catch(o.onBug)
  }
  begin()

  return {
    async read(signal) {
      lastRead = clock.monotonicNanos()
      if (isFinal) return object
      if (watch === undefined && !isClosed) begin()
      const current = watch
      if (current !== undefined && !current.hasSynced) await within(current.synced, clock, signal)
      signal.throwIfAborted()
      if (current === undefined || !current.hasSynced)
        throw keelsonError(
          'kubeapi.failed',
          `failed to sync ${kindOf(o.resource)} cache: timed out waiting for the condition`,
          { namespace: o.namespace, name: o.name },
        )
      return object
    },
    rest(idleNanos) {
      if (!isFinal && clock.monotonicNanos() - lastRead > idleNanos) stop()
    },
    close() {
      isClosed = true
      stop()
    },
  }
}

/** `configmap` of `configmaps`. */
const kindOf = ({ resource }: Resource): string => resource.replace(/s$/, '')

async function within(work: Promise<void>, clock: Clock, signal: AbortSignal): Promise<void> {
  const late = new AbortController()
  const onAbort = (): void => late.abort()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([work, pause(clock, firstReadMs, late.signal)])
  } finally {
    late.abort()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Who wrote which field, and the whole object once more as kubectl last applied it: half of the memory, and of no use here. */
function withoutHistory<T extends KubeObject>(object: T): T {
  const { name, namespace, uid, resourceVersion } = object.metadata ?? {}
  const metadata = Object.fromEntries(
    Object.entries({ name, namespace, uid, resourceVersion }).filter(([, value]) => value !== undefined),
  )
  return { ...object, metadata }
}

// List and watch of pods as a state: the effect of one response or one line of the stream, and the next request. The
// connection is in pod-watch.ts.

export interface WatchState {
  /** Undefined: a whole list is needed before anything else. */
  readonly resourceVersion: string | undefined
  /** By uid. */
  readonly pods: ReadonlyMap<string, unknown>
}

export const emptyWatch: WatchState = { resourceVersion: undefined, pods: new Map() }

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const metadataOf = (object: unknown): Fields => fieldsOf(fieldsOf(object)['metadata'])

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export interface ListPage {
  readonly state: WatchState
  /** Token of the next page; undefined: this was the last. */
  readonly next: string | undefined
}

/** Pages are gathered in `before`, which starts empty for each list. */
export function takeList(before: WatchState, answer: unknown): ListPage {
  const list = fieldsOf(answer)
  const items = Array.isArray(list['items']) ? list['items'] : []
  const pods = new Map(before.pods)
  for (const item of items as readonly unknown[]) {
    const uid = textOf(metadataOf(item)['uid'])
    if (uid !== undefined) pods.set(uid, item)
  }
  const { resourceVersion, continue: next } = metadataOf(list)
  return { state: { resourceVersion: textOf(resourceVersion), pods }, next: textOf(next) }
}

export type WatchStep =
  | { readonly kind: 'changed'; readonly state: WatchState }
  /** A bookmark: nothing but the place in the stream. */
  | { readonly kind: 'moved'; readonly state: WatchState }
  /** The place in the stream is no longer kept: list again. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'failed'; readonly message: string }

const gone = 410

export function takeEvent(before: WatchState, event: unknown): WatchStep {
  const { type, object } = fieldsOf(event)
  const metadata = metadataOf(object)
  const resourceVersion = textOf(metadata['resourceVersion']) ?? before.resourceVersion
  const uid = textOf(metadata['uid'])
  switch (type) {
    case 'BOOKMARK':
      return { kind: 'moved', state: { ...before, resourceVersion } }
    case 'ERROR': {
      const { code, message } = fieldsOf(object)
      if (code === gone) return { kind: 'expired' }
      return { kind: 'failed', message: textOf(message) ?? `status ${String(code)}` }
    }
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const pods = new Map(before.pods)
      if (uid !== undefined && type === 'DELETED') pods.delete(uid)
      else if (uid !== undefined) pods.set(uid, object)
      return { kind: 'changed', state: { resourceVersion, pods } }
    }
    default:
      return { kind: 'failed', message: `an event of type ${String(type).slice(0, 40)}` }
  }
}

// One line of a watch: what it says, whoever asked for the objects.
import type { KubeObject } from './objects.js'

type WatchEvent =
  | {
      readonly kind: 'put' | 'removed'
      readonly object: KubeObject
      readonly resourceVersion: string | undefined
    }
  /** Nothing but the place in the stream. */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string | undefined }
  /** The place in the stream is no longer known: list again. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'failed'; readonly message: string; readonly status: number | undefined }

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

export const goneStatus = 410

export function parseWatchEvent(event: unknown): WatchEvent {
  const { type, object } = fieldsOf(event)
  const resourceVersion = textOf(fieldsOf(fieldsOf(object)['metadata'])['resourceVersion'])
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { kind: 'put', object: fieldsOf(object), resourceVersion }
    case 'DELETED':
      return { kind: 'removed', object: fieldsOf(object), resourceVersion }
    case 'BOOKMARK':
      return { kind: 'bookmark', resourceVersion }
    case 'ERROR': {
      const { code, message } = fieldsOf(object)
      const status = typeof code === 'number' ? code : undefined
      if (status === goneStatus) return { kind: 'expired' }
      return { kind: 'failed', message: (textOf(message) ?? `status ${String(code)}`).slice(0, 500), status }
    }
    default:
      return { kind: 'failed', message: `an event of type ${String(type).slice(0, 40)}`, status: undefined }
  }
}

interface ListPage {
  readonly items: readonly KubeObject[]
  readonly resourceVersion: string | undefined
  /** Token of the next page; undefined: this was the last. */
  readonly next: string | undefined
}

/** An empty list is `null` in Go. */
export function parseListPage(answer: unknown): ListPage {
  const { items, metadata } = fieldsOf(answer)
  const { resourceVersion, continue: next } = fieldsOf(metadata)
  return {
    items: Array.isArray(items) ? items.map(fieldsOf) : [],
    resourceVersion: textOf(resourceVersion),
    next: textOf(next),
  }
}

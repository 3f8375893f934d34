// Decides what becomes of an event: a new Event object, a higher count of one that is there, one for many that are alike, or
// nothing because the object has too many. The rules and numbers of client-go's event correlator. No clock of its own.
import { type BucketRate, type TokenBucket, takeToken } from './token-bucket.js'

export interface InvolvedObject {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The part of the object that it is about: `spec.containers{web}`. */
  readonly fieldPath?: string
}

export interface ObservedEvent {
  readonly involved: InvolvedObject
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly annotations?: Readonly<Record<string, string>>
}

interface CorrelatedEvent extends ObservedEvent {
  /** Of the Event object; the same one again when `count` is more than 1. */
  readonly name: string
  readonly count: number
  readonly firstMs: number
}

/** Events that differ only in their message become one when there are more than this many within the interval. */
const similarEvents = 10
const similarIntervalMs = 600_000
const similarPrefix = '(combined from similar events): '
/** For each object. */
const objectRate: BucketRate = { burst: 25, perSecond: 1 / 300 }
const maxEntries = 4096
const maxMessage = 16 * 1024
/** Names end at 253 characters; the time takes up to 17. */
const maxObjectName = 235

interface Similar {
  readonly messages: Set<string>
  readonly lastMs: number
}
type Known = Pick<CorrelatedEvent, 'name' | 'count' | 'firstMs'>

export class EventCorrelator {
  private readonly similar = new Map<string, Similar>()
  private readonly known = new Map<string, Known>()
  private readonly buckets = new Map<string, TokenBucket>()

  /** Undefined: the object has had too many events. `nowNanos` must be another one for each event. */
  observe(given: ObservedEvent, nowNanos: bigint): CorrelatedEvent | undefined {
    const nowMs = Number(nowNanos / 1_000_000n)
    const { event, key } = this.combine({ ...given, message: given.message.slice(0, maxMessage) }, nowMs)
    const before = this.known.get(key)
    const next: Known =
      before === undefined
        ? { name: eventName(event.involved.name, nowNanos), count: 1, firstMs: nowMs }
        : { ...before, count: before.count + 1 }
    remember(this.known, key, next)
    const object = objectKey(event.involved)
    const { bucket, waitMs } = takeToken(this.buckets.get(object), objectRate, nowMs)
    remember(this.buckets, object, bucket)
    return waitMs > 0 ? undefined : { ...event, ...next }
  }

  private combine(
    event: ObservedEvent,
    nowMs: number,
  ): { readonly event: ObservedEvent; readonly key: string } {
    const { involved, type, reason, message } = event
    const group = JSON.stringify([objectKey(involved), type, reason])
    const before = this.similar.get(group)
    const isRecent = before !== undefined && nowMs - before.lastMs <= similarIntervalMs
    const messages = isRecent ? before.messages : new Set<string>()
    messages.add(message)
    remember(this.similar, group, { messages, lastMs: nowMs })
    if (messages.size < similarEvents)
      return { event, key: JSON.stringify([group, involved.fieldPath ?? '', message]) }
    // One goes, so that the set does not grow; the next new message reaches the limit again.
    for (const oldest of messages) {
      messages.delete(oldest)
      break
    }
    return { event: { ...event, message: `${similarPrefix}${message}` }, key: group }
  }
}

const objectKey = ({ kind, namespace, name, uid }: InvolvedObject): string =>
  JSON.stringify([kind, namespace, name, uid])

/** Upstream's shape of a name: the object and the time. */
const eventName = (object: string, nowNanos: bigint): string =>
  `${object.slice(0, maxObjectName).replace(/[.-]+$/, '')}.${nowNanos.toString(16)}`

/** The entry used last is the last of the map; the first one goes when there are too many. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= maxEntries) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

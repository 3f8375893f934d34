// Readers of events. Each has a bounded queue: one that does not read is ended, and lists again, rather than fed for ever.
import { keelsonError } from '../../core/errors.js'

/** About two minutes of a busy node. */
const maxQueued = 2_048

interface Subscribers<T> {
  readonly count: number
  /** Gets what is sent from now on, until the signal. Throws `request.too-large` where the reader is too slow. */
  add(signal: AbortSignal): AsyncIterable<T>
  send(item: T): void
}

interface Reader<T> {
  readonly queue: T[]
  isLate: boolean
  wake: () => void
}

export function createSubscribers<T>(): Subscribers<T> {
  const readers = new Set<Reader<T>>()

  async function* read(reader: Reader<T>, signal: AbortSignal): AsyncGenerator<T> {
    try {
      while (!signal.aborted) {
        const item = reader.queue.shift()
        if (item !== undefined) yield item
        else if (reader.isLate)
          throw keelsonError(
            'request.too-large',
            `the client did not read ${maxQueued} events; connect again and list`,
          )
        else
          await new Promise<void>((resolve) => {
            reader.wake = resolve
          })
      }
    } finally {
      readers.delete(reader)
    }
  }

  return {
    get count() {
      return readers.size
    },
    add(signal) {
      const reader: Reader<T> = { queue: [], isLate: false, wake: () => {} }
      // Registered here and not at the first read, so that nothing between the two is lost.
      readers.add(reader)
      signal.addEventListener(
        'abort',
        () => {
          readers.delete(reader)
          reader.wake()
        },
        { once: true },
      )
      return read(reader, signal)
    },
    send(item) {
      for (const reader of readers) {
        if (reader.queue.length < maxQueued) reader.queue.push(item)
        else reader.isLate = true
        if (reader.isLate) readers.delete(reader)
        reader.wake()
      }
    },
  }
}

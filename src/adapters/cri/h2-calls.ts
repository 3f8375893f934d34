// The calls of one connection by their numbers, and those that wait because the runtime takes no more at once.
import { ProtocolFault, resetCode } from './h2-frames.js'
import type { RuntimeStream } from './h2-stream.js'

/** A number is used once; long before the last one a new connection is better. */
const lastId = 2 ** 30

export class Calls {
  /** As the runtime allows. */
  most = Number.POSITIVE_INFINITY
  private nextId = 1
  private readonly open = new Map<number, RuntimeStream>()
  private waiting: { readonly stream: RuntimeStream; readonly start: () => void }[] = []

  get hasNumbers(): boolean {
    return this.nextId < lastId
  }

  get isEmpty(): boolean {
    return this.open.size === 0
  }

  all(): readonly RuntimeStream[] {
    return [...this.open.values()]
  }

  /** `start` sends the call, which has its number by then; now or when there is room. */
  add(stream: RuntimeStream, start: () => void): void {
    this.waiting.push({ stream, start })
    this.startWaiting()
  }

  startWaiting(): void {
    while (this.open.size < this.most) {
      const next = this.waiting.shift()
      if (next === undefined) return
      if (next.stream.isOver) continue
      next.stream.id = this.nextId
      this.nextId += 2
      this.open.set(next.stream.id, next.stream)
      next.start()
    }
  }

  /** Takes out those that never began. */
  takeWaiting(): readonly RuntimeStream[] {
    return this.waiting.splice(0).map((w) => w.stream)
  }

  /** Undefined: it has ended. Throws where the runtime speaks of a call that nobody made. */
  find(id: number): RuntimeStream | undefined {
    if (id === 0 || id % 2 === 0 || id >= this.nextId)
      throw new ProtocolFault(resetCode.protocol, `a frame for stream ${id}, which nobody opened`)
    return this.open.get(id)
  }

  remove(stream: RuntimeStream): void {
    if (stream.id !== 0) this.open.delete(stream.id)
    else this.waiting = this.waiting.filter((w) => w.stream !== stream)
  }
}

// How long the kubelet's parts live: until the signal, and what they hold is given back in reverse order.
export interface Life {
  readonly signal: AbortSignal
  /** What has been opened must be closed, also when a later step of the start fails. */
  onClose(closer: () => void | Promise<void>): void
}

interface EndableLife extends Life {
  end(): Promise<void>
}

export function beginLife(outer: AbortSignal): EndableLife {
  const stop = new AbortController()
  const closers: (() => void | Promise<void>)[] = []
  return {
    signal: AbortSignal.any([outer, stop.signal]),
    onClose: (closer) => {
      closers.push(closer)
    },
    async end() {
      stop.abort(new Error('the kubelet is closed'))
      for (const closer of closers.splice(0).reverse()) await closer()
    },
  }
}

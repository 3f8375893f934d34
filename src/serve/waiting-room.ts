// A bounded number of requests that wait for their authentication. At the limit, the address with the most waiting requests
// loses its oldest one: a flood from one address hurts only that address.

interface Place {
  /** Aborted when the place is given to another request. */
  readonly taken: AbortSignal
  leave(): void
}

interface WaitingRoom {
  /** A place for a caller from this address; there always is one, at the cost of another. */
  enter(address: string): Place
}

export function createWaitingRoom(maxPlaces: number, full: () => Error): WaitingRoom {
  /** Both in the order in which they came. */
  const byAddress = new Map<string, Set<AbortController>>()
  let size = 0

  const leave = (address: string, place: AbortController): void => {
    const places = byAddress.get(address)
    if (places?.delete(place) !== true) return
    size--
    if (places.size === 0) byAddress.delete(address)
  }

  function makeRoom(newcomer: string): void {
    const sizeOf = (address: string): number =>
      (byAddress.get(address)?.size ?? 0) + (address === newcomer ? 1 : 0)
    let [most] = byAddress.keys()
    for (const address of byAddress.keys())
      if (most === undefined || sizeOf(address) > sizeOf(most)) most = address
    const [oldest] = byAddress.get(most ?? '') ?? []
    if (most === undefined || oldest === undefined) return
    leave(most, oldest)
    oldest.abort(full())
  }

  return {
    enter(address) {
      if (size >= maxPlaces) makeRoom(address)
      const place = new AbortController()
      const places = byAddress.get(address) ?? new Set()
      byAddress.set(address, places.add(place))
      size++
      return { taken: place.signal, leave: () => leave(address, place) }
    },
  }
}

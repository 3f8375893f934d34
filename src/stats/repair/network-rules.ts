// Whether a pod's network values are those of its own network namespace.
import { isCounted } from '../collectors/network.js'

/** Received bytes, by name of the interface. */
export type Traffic = ReadonlyMap<string, bigint>

/** Traffic may grow this much between two readings. */
const slack = 16n * 1024n * 1024n

const isFar = (a: bigint, b: bigint): boolean => (a > b ? a - b : b - a) > slack && (a > 2n * b || b > 2n * a)

/** True: an interface that the namespace does not have, or traffic that cannot be that of its interface. */
export const isOtherNamespace = (given: Traffic, own: Traffic): boolean =>
  [...given].some(([name, bytes]) => {
    if (!isCounted(name)) return false
    const ours = own.get(name)
    return ours === undefined || isFar(bytes, ours)
  })

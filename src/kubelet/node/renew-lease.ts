// Renews the Lease of the node four times in its duration. The last version that was seen is renewed without a GET; a
// conflict or a Lease that is gone is looked at anew.
import { isKeelsonError } from '../../core/errors.js'
import type { Lease } from '../../core/kube/objects.js'
import { collectionPath, leases, objectPath } from '../../core/kube/path.js'
import { callStatusOf } from '../../core/kube/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { ApiContact } from './api-contact.js'
import { leaseNamespace, renewedLease } from './decide/lease.js'

interface LeaseOptions {
  readonly api: KubeApi
  readonly clock: Clock
  readonly contact: ApiContact
  readonly nodeName: string
  readonly nodeUid: () => string | undefined
  readonly durationSeconds: number
  readonly timeoutMs: number
  readonly random: () => number
  readonly signal: AbortSignal
}

const tries = 5
const jitter = 0.04
const firstWaitMs = 200
const longestWaitMs = 7_000

export async function renewLease(o: LeaseOptions): Promise<void> {
  const { api, clock, contact, nodeName, signal } = o
  const path = objectPath(leases, { namespace: leaseNamespace, name: nodeName })
  const options = { signal, timeoutMs: o.timeoutMs, retry: 'never' } as const
  let known: Lease | undefined

  const next = (base: Lease | undefined): Lease =>
    renewedLease({ ...o, nowNanos: clock.nowNanos(), nodeUid: o.nodeUid(), base })

  /** One try: renews what is known, or finds out what there is. */
  const renew = async (): Promise<void> => {
    if (known !== undefined) {
      known = await api.replace<Lease>(path, next(known), options)
      return
    }
    const found = await api.get<Lease>(path, options)
    if (found !== undefined) {
      known = found
      known = await api.replace<Lease>(path, next(found), options)
      // Without its owner a Lease would outlive the Node: created only once there is one.
    } else if (o.nodeUid() !== undefined)
      known = await api.create<Lease>(collectionPath(leases, leaseNamespace), next(undefined), options)
  }

  let waitMs = firstWaitMs
  /** True: renewed. */
  const round = async (): Promise<boolean> => {
    for (let tried = 1; tried <= tries && !signal.aborted; tried++) {
      try {
        await renew()
        contact.succeeded()
        return known !== undefined
      } catch (e) {
        if (signal.aborted) return false
        if (!isKeelsonError(e)) throw e
        const status = callStatusOf(e)
        // Another writer, or a Lease that was removed: the next try begins with a look.
        if (status === 409 || status === 404) {
          known = undefined
          continue
        }
        contact.failed(e)
        // Connections may be dead without saying so.
        if (tried > 1) api.closeConnections()
      }
    }
    return false
  }
  while (!signal.aborted) {
    const renewed = await round()
    const periodMs = (o.durationSeconds * 1000) / 4
    const pauseMs = renewed ? periodMs * (1 + o.random() * jitter) : Math.min(waitMs, periodMs)
    waitMs = renewed ? firstWaitMs : Math.min(waitMs * 2, longestWaitMs)
    await clock.sleep(pauseMs, signal).catch(() => undefined)
  }
}

// Cluster trust bundles: certificates that pods may trust, by name or by signer. Followed from the first pod that asks on.
import { keelsonError } from '../../core/errors.js'
import type { ClusterTrustBundle, KubeObject } from '../../core/kube/objects.js'
import { clusterTrustBundles, collectionPath } from '../../core/kube/path.js'
import type { TrustBundleProjection } from '../../core/pod/spec/volume.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import { trustAnchorsOf } from './decide/trust-anchors.js'

interface TrustBundles {
  /** PEM; empty where nothing is found and the source is optional. */
  anchors(source: TrustBundleProjection, signal: AbortSignal): Promise<string>
}

interface TrustBundlesOptions {
  readonly api: Pick<KubeApi, 'follow'>
  readonly clock: Clock
  readonly onBug: (e: unknown) => void
  readonly signal: AbortSignal
}

const firstReadMs = 3_000

export function createTrustBundles({ api, clock, onBug, signal }: TrustBundlesOptions): TrustBundles {
  const known = new Map<string, ClusterTrustBundle>()
  let hasList = false
  let synced: Promise<void> | undefined
  const nameOf = ({ metadata }: KubeObject): string => metadata?.name ?? ''
  const begin = (): Promise<void> =>
    new Promise((resolve) => {
      const store = {
        replace(items: readonly KubeObject[]) {
          known.clear()
          for (const item of items) known.set(nameOf(item), item)
          hasList = true
          resolve()
        },
        put: (item: KubeObject) => void known.set(nameOf(item), item),
        remove: (item: KubeObject) => void known.delete(nameOf(item)),
      }
      api.follow(collectionPath(clusterTrustBundles), {}, store, signal).catch(onBug)
    })
  return {
    async anchors(source, reading) {
      synced ??= begin()
      if (!hasList) await Promise.race([synced, pause(clock, firstReadMs, reading)])
      reading.throwIfAborted()
      if (!hasList)
        throw keelsonError(
          'kubeapi.failed',
          'failed to sync clustertrustbundle cache: timed out waiting for the condition',
        )
      return trustAnchorsOf(source, [...known.values()])
    },
  }
}

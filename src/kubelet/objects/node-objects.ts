// What pods of this node refer to in the API server: config maps and secrets (one watch each, only while a pod refers to
// them), the services, and service account tokens.
import { keelsonError } from '../../core/errors.js'
import type {
  ConfigMap,
  KubeService,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
} from '../../core/kube/objects.js'
import {
  configMaps,
  objectPath,
  persistentVolumeClaims,
  persistentVolumes,
  secrets,
} from '../../core/kube/path.js'
import type { TrustBundleProjection } from '../../core/pod/spec/volume.js'
import { pause } from '../../core/units/retry.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import { createServiceList } from './service-list.js'
import { createTokenCache, type TokenQuestion } from './token-cache.js'
import { createTrustBundles } from './trust-bundles.js'
import { type WatchedObject, watchObject } from './watched-object.js'

/** In the pod's own namespace. */
export interface ObjectReference {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
}

export interface NodeObjects {
  /** In place of what this pod referred to before. */
  register(pod: { readonly namespace: string; readonly uid: string }, refs: readonly ObjectReference[]): void
  /** Ends the watches of what no other pod refers to; tokens of the pod are forgotten. */
  release(uid: string): void
  /** Undefined: it does not exist. Only what a registered pod refers to can be read. */
  configMap(namespace: string, name: string, signal: AbortSignal): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret | undefined>
  /** Undefined: the list was not read yet. */
  services(): readonly KubeService[] | undefined
  token(question: TokenQuestion, signal: AbortSignal): Promise<string>
  /** PEM of the certificates that a projection selects. */
  trustAnchors(source: TrustBundleProjection, signal: AbortSignal): Promise<string>
  /** Asked each time: a node may not watch claims, and mounting is rare. Undefined: it does not exist. */
  claim(namespace: string, name: string, signal: AbortSignal): Promise<PersistentVolumeClaim | undefined>
  persistentVolume(name: string, signal: AbortSignal): Promise<PersistentVolume | undefined>
  /** Called with the uids of the pods that refer to an object that changed; the result takes the listener away. */
  onChange(listener: (uids: readonly string[]) => void): () => void
  /** Rejects when a watch died of a bug. */
  readonly done: Promise<void>
}

interface NodeObjectsOptions {
  readonly api: Pick<KubeApi, 'follow' | 'create' | 'get'>
  readonly clock: Clock
  readonly log: Log
  /** syncFrequency: pods read their objects at least this often. */
  readonly syncMs: number
  readonly random?: () => number
  readonly signal: AbortSignal
}

interface Entry {
  readonly watched: WatchedObject<ConfigMap | Secret>
  readonly pods: Set<string>
}

/** A watch that was not read for so many syncs rests. */
const idleSyncs = 5
const callTimeoutMs = 10_000

export function createNodeObjects(o: NodeObjectsOptions): NodeObjects {
  const { api, clock, log, signal } = o
  const entries = new Map<string, Entry>()
  /** Keys of entries by pod. */
  const byPod = new Map<string, ReadonlySet<string>>()
  const listeners = new Set<(uids: readonly string[]) => void>()
  const services = createServiceList(api)
  const tokens = createTokenCache({ api, clock, log, random: o.random ?? Math.random })
  let onBug: (e: unknown) => void = () => undefined
  const bug = new Promise<never>((_, reject) => {
    onBug = reject
  })

  const bundles = createTrustBundles({ api, clock, onBug: (e) => onBug(e), signal })
  const callOptions = (calling: AbortSignal) => ({ signal: calling, timeoutMs: callTimeoutMs })

  const keyOf = (kind: ObjectReference['kind'], namespace: string, name: string): string =>
    JSON.stringify([kind, namespace, name])
  const begin = (key: string, kind: ObjectReference['kind'], namespace: string, name: string): Entry => {
    const pods = new Set<string>()
    const watched = watchObject<ConfigMap | Secret>({
      resource: kind === 'configMap' ? configMaps : secrets,
      namespace,
      name,
      api,
      clock,
      onChange: () => {
        for (const listener of listeners) listener([...pods])
      },
      onBug,
      signal,
    })
    const entry = { watched, pods }
    entries.set(key, entry)
    return entry
  }
  const drop = (uid: string, keys: Iterable<string>): void => {
    for (const key of keys) {
      const entry = entries.get(key)
      entry?.pods.delete(uid)
      if (entry === undefined || entry.pods.size > 0) continue
      entry.watched.close()
      entries.delete(key)
    }
  }
  const read = (kind: ObjectReference['kind'], namespace: string, name: string, reading: AbortSignal) => {
    const entry = entries.get(keyOf(kind, namespace, name))
    if (entry === undefined)
      throw keelsonError('kubeapi.failed', `object "${namespace}"/"${name}" not registered`, {
        namespace,
        name,
      })
    return entry.watched.read(reading)
  }
  const restIdle = async (): Promise<void> => {
    const idleNanos = BigInt(o.syncMs) * 1_000_000n * BigInt(idleSyncs)
    while (!signal.aborted) {
      await pause(clock, o.syncMs, signal)
      for (const { watched } of entries.values()) watched.rest(idleNanos)
    }
  }

  return {
    register({ namespace, uid }, refs) {
      const keys = new Set(refs.map(({ kind, name }) => keyOf(kind, namespace, name)))
      const before = byPod.get(uid) ?? new Set<string>()
      byPod.set(uid, keys)
      for (const { kind, name } of refs) {
        const key = keyOf(kind, namespace, name)
        ;(entries.get(key) ?? begin(key, kind, namespace, name)).pods.add(uid)
      }
      drop(
        uid,
        [...before].filter((key) => !keys.has(key)),
      )
    },
    release(uid) {
      drop(uid, byPod.get(uid) ?? [])
      byPod.delete(uid)
      tokens.forget(uid)
    },
    configMap: async (namespace, name, reading) => read('configMap', namespace, name, reading),
    secret: async (namespace, name, reading) => read('secret', namespace, name, reading),
    services: services.current,
    token: tokens.token,
    trustAnchors: bundles.anchors,
    claim: (namespace, name, calling) =>
      api.get<PersistentVolumeClaim>(
        objectPath(persistentVolumeClaims, { namespace, name }),
        callOptions(calling),
      ),
    persistentVolume: (name, calling) =>
      api.get<PersistentVolume>(objectPath(persistentVolumes, { name }), callOptions(calling)),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    done: Promise.race([bug, Promise.all([services.follow(signal), restIdle()]).then(() => undefined)]),
  }
}

// An API server in memory: objects by path with versions, merge patches, and stores that follow collections. Selectors are
// taken as given; a real server is what tests of selection and of faults run against.
import { keelsonError } from '../core/errors.js'
import type { KubeObject } from '../core/kube/objects.js'
import type { KubeApi, ObjectStore } from '../ports/kube-api.js'

type Json = Record<string, unknown>

export interface FakeCall {
  readonly verb: 'get' | 'list' | 'create' | 'replace' | 'patch' | 'remove' | 'text'
  readonly path: string
  readonly body?: unknown
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** RFC 7396, with lists of `type`d entries merged by type as a strategic merge does for conditions. */
function merge(before: unknown, patch: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(patch) && patch.every((p) => isObject(p) && 'type' in p)) {
    const byType = new Map(before.map((b: unknown) => [(b as Json)['type'], b]))
    for (const p of patch as Json[]) byType.set(p['type'], merge(byType.get(p['type']), p))
    return [...byType.values()]
  }
  if (Array.isArray(patch)) return patch.filter((p) => !(isObject(p) && '$patch' in p))
  if (!isObject(patch)) return patch
  const result: Json = isObject(before) ? { ...before } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue
    if (value === null) delete result[key]
    else result[key] = merge(result[key], value)
  }
  return result
}

/** `/api/v1/pods` has the pods of every namespace. */
function isIn(collection: string, path: string): boolean {
  const everywhere = path.replace(/\/namespaces\/[^/]+\/([^/]+\/)/, '/$1')
  return path.startsWith(`${collection}/`) || everywhere.startsWith(`${collection}/`)
}

export class FakeKubeApi implements KubeApi {
  readonly server = 'https://fake:6443'
  readonly objects = new Map<string, KubeObject>()
  readonly calls: FakeCall[] = []
  /** Throws in place of an answer; undefined: answers. */
  fault: ((call: FakeCall) => Error | undefined) | undefined
  closedConnections = 0
  readonly #stores = new Set<{ readonly path: string; readonly store: ObjectStore }>()
  #version = 100

  static refusal(status: number, reason = ''): Error {
    return keelsonError('kubeapi.failed', `the API server responded with ${status}`, { status, reason })
  }

  #enter(call: FakeCall): void {
    this.calls.push(call)
    const error = this.fault?.(call)
    if (error !== undefined) throw error
  }

  #stored<T extends KubeObject>(path: string, object: T): T {
    this.#version++
    const stored = {
      ...object,
      metadata: {
        uid: `uid-${this.#version}`,
        ...object.metadata,
        resourceVersion: String(this.#version),
      },
    }
    this.objects.set(path, stored)
    for (const { path: followed, store } of this.#stores) if (isIn(followed, path)) store.put(stored)
    return stored
  }

  async get<T extends KubeObject>(path: string): Promise<T | undefined> {
    this.#enter({ verb: 'get', path })
    return this.objects.get(path) as T | undefined
  }
  async list(path: string) {
    this.#enter({ verb: 'list', path })
    return { items: this.#below(path), resourceVersion: String(this.#version) }
  }
  #below(path: string): KubeObject[] {
    return [...this.objects].filter(([p]) => isIn(path, p)).map(([, object]) => object)
  }
  async create<T extends KubeObject>(path: string, object: T): Promise<T> {
    this.#enter({ verb: 'create', path, body: object })
    const name = object.metadata?.name ?? `${object.metadata?.generateName ?? ''}${this.#version}`
    const at = `${path}/${name}`
    if (this.objects.has(at)) throw FakeKubeApi.refusal(409, 'AlreadyExists')
    return this.#stored(at, { ...object, metadata: { ...object.metadata, name } })
  }
  async replace<T extends KubeObject>(path: string, object: T): Promise<T> {
    this.#enter({ verb: 'replace', path, body: object })
    const before = this.objects.get(path)
    if (before === undefined) throw FakeKubeApi.refusal(404, 'NotFound')
    const asked = object.metadata?.resourceVersion
    if (asked !== undefined && asked !== before.metadata?.resourceVersion)
      throw FakeKubeApi.refusal(409, 'Conflict')
    return this.#stored(path, object)
  }
  async patch<T extends KubeObject>(path: string, _kind: string, body: unknown): Promise<T> {
    this.#enter({ verb: 'patch', path, body })
    const at = path.replace(/\/status$/, '')
    const before = this.objects.get(at)
    if (before === undefined) throw FakeKubeApi.refusal(404, 'NotFound')
    return this.#stored(at, merge(before, body) as T)
  }
  async remove(path: string): Promise<boolean> {
    this.#enter({ verb: 'remove', path })
    const gone = this.objects.get(path)
    this.objects.delete(path)
    if (gone === undefined) return false
    for (const { path: followed, store } of this.#stores) if (isIn(followed, path)) store.remove(gone)
    return true
  }
  async text(path: string): Promise<string> {
    this.#enter({ verb: 'text', path })
    return 'ok'
  }
  async follow(path: string, _selection: unknown, store: ObjectStore, signal: AbortSignal): Promise<void> {
    const entry = { path, store }
    this.#stores.add(entry)
    store.replace(this.#below(path))
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    this.#stores.delete(entry)
  }
  closeConnections(): void {
    this.closedConnections++
  }
  close(): void {}
}

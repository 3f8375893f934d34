// The API server as the rest of Keelson sees it: objects by path (core/kube/path.ts), and collections that are followed.
// Every call has a deadline. A refusal or a missing answer is `kubeapi.failed`; core/kube/retry.ts reads its details.
import type { KubeObject } from '../core/kube/objects.js'

export interface ApiCallOptions {
  readonly signal: AbortSignal
  /** Of the whole call, tries and waits included. Default 30 s. */
  readonly timeoutMs?: number
  /** `never`: one try, for callers that count their own. Default: what may be sent again is, until the deadline. */
  readonly retry?: 'default' | 'never'
  /** How an error begins, for people: `annotate Node n1`. Default: method and path. */
  readonly doing?: string
}

export interface Selection {
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export interface ObjectList {
  readonly items: readonly KubeObject[]
  readonly resourceVersion: string | undefined
}

/** `strategic` is for built-in objects; `json` is a list of operations (RFC 6902); `merge` is RFC 7396. */
export type PatchKind = 'strategic' | 'merge' | 'json'

interface RemoveOptions extends ApiCallOptions {
  /** The object is removed only if it is still this one. */
  readonly uid?: string
  readonly gracePeriodSeconds?: number
}

/** Told of a collection, in order. */
export interface ObjectStore {
  /** The whole of it: at the start, and after the place in the stream was lost. */
  replace(objects: readonly KubeObject[]): void
  put(object: KubeObject): void
  remove(object: KubeObject): void
}

export interface KubeApi {
  /** `https://10.0.0.1:6443`, without credentials. */
  readonly server: string
  /** Undefined: no such object. */
  get<T extends KubeObject>(path: string, options: ApiCallOptions): Promise<T | undefined>
  list(path: string, selection: Selection, options: ApiCallOptions): Promise<ObjectList>
  create<T extends KubeObject>(path: string, object: T, options: ApiCallOptions): Promise<T>
  /** With metadata.resourceVersion: only if nobody changed it meanwhile, else 409. */
  replace<T extends KubeObject>(path: string, object: T, options: ApiCallOptions): Promise<T>
  patch<T extends KubeObject>(
    path: string,
    kind: PatchKind,
    body: unknown,
    options: ApiCallOptions,
  ): Promise<T>
  /** False: it was not there. */
  remove(path: string, options: RemoveOptions): Promise<boolean>
  /** GET of something that is not an object, such as /readyz. */
  text(path: string, options: ApiCallOptions): Promise<string>
  /** Lists, then watches, until the signal is aborted; failures are waited out. */
  follow(path: string, selection: Selection, store: ObjectStore, signal: AbortSignal): Promise<void>
  /** Ends every connection: the next call makes a new one. For when answers stop coming. */
  closeConnections(): void
  /** Lets go of everything. */
  close(): void
}

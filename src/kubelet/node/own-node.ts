// The Node object of this machine as the API server has it, followed by a watch of this one object.
import type { KubeNode, KubeObject } from '../../core/kube/objects.js'
import { collectionPath, nodes } from '../../core/kube/path.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'

export interface OwnNode {
  /** Undefined: there is none, or nothing was heard yet. */
  current(): KubeNode | undefined
  /** Heard from somewhere else than the watch: the answer to a write. */
  heard(node: KubeNode): void
  /** Resolves with the first uid. */
  readonly firstUid: Promise<string>
  /** Told of each change; the result takes the listener away. */
  onChange(listener: (node: KubeNode | undefined) => void): () => void
  follow(signal: AbortSignal): Promise<void>
}

/** Events about the Node wait this long for it. */
const uidWaitMs = 120_000

/** The uid, or undefined where no Node appears: with registerNode: false there may never be one. */
export function waitForUid(own: OwnNode, clock: Pick<Clock, 'sleep'>, signal: AbortSignal) {
  let waited: Promise<undefined> | undefined
  return async (): Promise<string | undefined> => {
    const known = own.current()?.metadata?.uid
    if (known !== undefined) return known
    waited ??= clock.sleep(uidWaitMs, signal).then(
      () => undefined,
      () => undefined,
    )
    return Promise.race([own.firstUid, waited])
  }
}

export function createOwnNode(api: Pick<KubeApi, 'follow'>, nodeName: string): OwnNode {
  let current: KubeNode | undefined
  let resolveUid: (uid: string) => void = () => undefined
  const firstUid = new Promise<string>((resolve) => {
    resolveUid = resolve
  })
  const listeners = new Set<(node: KubeNode | undefined) => void>()
  const take = (node: KubeNode | undefined): void => {
    current = node
    if (node?.metadata?.uid !== undefined) resolveUid(node.metadata.uid)
    for (const listener of listeners) listener(node)
  }
  const isOwn = ({ metadata }: KubeObject): boolean => metadata?.name === nodeName
  return {
    current: () => current,
    heard: take,
    firstUid,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    follow: (signal) =>
      api.follow(
        collectionPath(nodes),
        { fieldSelector: `metadata.name=${nodeName}` },
        {
          replace: (items) => take(items.find(isOwn)),
          put: (node) => {
            if (isOwn(node)) take(node)
          },
          remove: (node) => {
            if (isOwn(node)) take(undefined)
          },
        },
        signal,
      ),
  }
}

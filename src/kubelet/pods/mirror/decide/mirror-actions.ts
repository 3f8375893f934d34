// What is to be done so that every static pod has its mirror in the API server, and no mirror is left without one. Pure.
import type { KubePod } from '../../../../core/kube/objects.js'
import { configMirror } from '../../decide/wanted-pod.js'

export interface StaticPodNow {
  readonly uid: string
  readonly namespace: string
  readonly name: string
  /** Of its manifest; a mirror has the hash of what it shows. */
  readonly hash: string
  readonly terminating: boolean
}

export type MirrorAction =
  | { readonly kind: 'create'; readonly uid: string }
  | { readonly kind: 'remove'; readonly mirror: KubePod }

interface MirrorInput {
  readonly statics: readonly StaticPodNow[]
  readonly mirrors: readonly KubePod[]
  /** Every source was read: a mirror without a static pod has none. */
  readonly complete: boolean
}

const nameOf = ({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string =>
  `${namespace ?? 'default'}/${name ?? ''}`

export function decideMirrors({ statics, mirrors, complete }: MirrorInput): readonly MirrorAction[] {
  const byName = new Map(mirrors.map((mirror) => [nameOf(mirror.metadata ?? {}), mirror]))
  // While a pod of this name ends, its mirror shows how.
  const ending = new Set(statics.filter((pod) => pod.terminating).map(nameOf))
  const wanted = statics.filter((pod) => !pod.terminating && !ending.has(nameOf(pod)))
  const known = new Set(statics.map(nameOf))
  const orphans = complete ? mirrors.filter(({ metadata }) => !known.has(nameOf(metadata ?? {}))) : []
  return [
    ...orphans.map((mirror): MirrorAction => ({ kind: 'remove', mirror })),
    ...wanted.flatMap((pod): readonly MirrorAction[] => {
      const mirror = byName.get(nameOf(pod))
      const create: MirrorAction = { kind: 'create', uid: pod.uid }
      if (mirror === undefined) return [create]
      return isMirrorOf(mirror, pod) ? [] : [{ kind: 'remove', mirror }, create]
    }),
  ]
}

/** One that is being deleted is none any more: deleting it does not end the static pod. */
export const isMirrorOf = ({ metadata }: KubePod, { hash }: Pick<StaticPodNow, 'hash'>): boolean =>
  metadata?.deletionTimestamp === undefined && metadata?.annotations?.[configMirror] === hash

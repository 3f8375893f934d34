// A pod that a source of this node wants: read from a manifest, or from the API server. Pure.
import { isKeelsonError } from '../../../core/errors.js'
import type { KubePod } from '../../../core/kube/objects.js'
import { isEqualJson } from '../../../core/kube/strategic-merge.js'
import { parsePodSpec } from '../../../core/pod/spec/parse.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { configSeen, configSource } from './static-pod.js'
import { gateStates } from './status/readiness-gates.js'

/** Why the node does not run a pod: what its status says. */
export interface Rejection {
  /** One word, as kubectl shows it. */
  readonly reason: string
  readonly message: string
}

interface AdmissionQuestion {
  readonly pod: PodSpec
  /** Undefined for a static pod. */
  readonly api: KubePod | undefined
  /** Every other pod that this node runs or is about to run. */
  readonly others: readonly PodSpec[]
}

/** Undefined: admitted, as far as this handler goes. The first that rejects decides. */
export type AdmissionHandler = (
  question: AdmissionQuestion,
  signal: AbortSignal,
) => Promise<Rejection | undefined> | Rejection | undefined

export interface WantedPod {
  readonly uid: string
  /** Undefined: this node cannot run it, see `rejection`. */
  readonly spec: PodSpec | undefined
  readonly rejection?: Rejection
  /** The manifest; empty for a pod of the API server. */
  readonly file: string
  /** How often the manifest was removed and written again: each time the pod ends and begins anew. Default 0. */
  readonly recreated?: number
  /** The object as the API server has it; undefined for a static pod. */
  readonly api?: KubePod
}

export interface WantedPods {
  /** By uid. */
  readonly pods: ReadonlyMap<string, WantedPod>
  /** Manifests that hold no sound pod now: what once came from them is neither ended nor restarted. */
  readonly broken: ReadonlySet<string>
  /** Every source was read at least once: what none of them wants may be removed. */
  readonly complete: boolean
}

/** The names by which a pod is known; undefined: not a pod that the API server would give. */
interface PodKey {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export function podKey({ metadata }: KubePod): PodKey | undefined {
  const { namespace = 'default', name, uid } = metadata ?? {}
  return name === undefined || uid === undefined ? undefined : { namespace, name, uid }
}

export const configMirror = 'kubernetes.io/config.mirror'

export const isMirrorPod = ({ metadata }: KubePod): boolean =>
  metadata?.annotations?.[configMirror] !== undefined

export const isTerminalPhase = (phase: unknown): phase is 'Succeeded' | 'Failed' =>
  phase === 'Succeeded' || phase === 'Failed'

/** Undefined: the object has no name or no uid. `seenAt` is RFC 3339. */
export function readApiPod(object: KubePod, seenAt: string): WantedPod | undefined {
  const key = podKey(object)
  if (key === undefined) return undefined
  const metadata = {
    ...object.metadata,
    annotations: { ...object.metadata?.annotations, [configSeen]: seenAt, [configSource]: 'api' },
  }
  const parsed = parse({ apiVersion: 'v1', kind: 'Pod', ...object, metadata })
  const { uid } = key
  return 'spec' in parsed
    ? { uid, spec: parsed.spec, file: '', api: object }
    : { uid, spec: undefined, rejection: parsed, file: '', api: object }
}

function parse(input: KubePod): { readonly spec: PodSpec } | Rejection {
  try {
    const parsed = parsePodSpec(input, 'api')
    if (parsed.kind === 'pod') return { spec: parsed.spec }
    const [first] = parsed.problems
    const what = first === undefined ? 'the pod cannot be read' : `${first.path} ${first.message}`
    return { reason: 'PodFeatureUnsupported', message: what }
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return { reason: 'PodFeatureUnsupported', message: e.message }
  }
}

/** Whether the two want the same of the node: all but the status and what the API server notes for itself. */
export function wantsTheSame(a: KubePod, b: KubePod): boolean {
  const [one, two] = [a.metadata ?? {}, b.metadata ?? {}]
  return (
    isEqualJson(a.spec, b.spec) &&
    isEqualJson(one.labels, two.labels) &&
    isEqualJson(one.annotations, two.annotations) &&
    one.generation === two.generation &&
    one.deletionTimestamp === two.deletionTimestamp &&
    one.deletionGracePeriodSeconds === two.deletionGracePeriodSeconds &&
    isTerminalPhase(a.status?.phase) === isTerminalPhase(b.status?.phase) &&
    isEqualJson(gateStates(a), gateStates(b))
  )
}

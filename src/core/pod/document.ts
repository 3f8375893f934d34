// The whole Pod object as the API shows it: what was written, with the defaults that an API server would have filled in,
// and the status. For /pods and for `keelson get`.

import type { KubePod } from '../kube/objects.js'
import { formatTime } from '../units/rfc3339.js'
import type { ContainerSpec, PodSpec } from './spec/spec.js'
import type { PodStatus } from './status-json.js'

export interface PodJson {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod'
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly creationTimestamp: string | null
    readonly deletionTimestamp?: string
    readonly deletionGracePeriodSeconds?: number
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status: PodStatus
}

interface PodDocumentFacts {
  readonly nodeName: string
  readonly createdAtNanos: bigint
  readonly endingSinceNanos: bigint | undefined
}

type Fields = Readonly<Record<string, unknown>>

export function podDocument(spec: PodSpec, status: PodStatus, facts: PodDocumentFacts): PodJson {
  const { pod, labels } = spec
  const grace = spec.terminationGracePeriodSeconds
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: pod.name,
      namespace: pod.namespace,
      uid: pod.uid,
      creationTimestamp: formatTime(facts.createdAtNanos),
      ...(facts.endingSinceNanos === undefined
        ? {}
        : {
            deletionTimestamp: formatTime(facts.endingSinceNanos + BigInt(grace) * 1_000_000_000n),
            deletionGracePeriodSeconds: grace,
          }),
      ...(labels.size === 0 ? {} : { labels: Object.fromEntries(labels) }),
      annotations: Object.fromEntries(pod.annotations),
    },
    spec: specDocument(spec, facts.nodeName),
    status,
  }
}

/** A pod of the API server: its object, with what this kubelet noted on it and the status that it knows. */
export const apiPodDocument = (api: KubePod, spec: PodSpec | undefined, status: PodStatus): PodJson => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...api.metadata,
    name: api.metadata?.name ?? '',
    namespace: api.metadata?.namespace ?? 'default',
    uid: api.metadata?.uid ?? '',
    creationTimestamp: api.metadata?.creationTimestamp ?? null,
    ...(spec === undefined ? {} : { annotations: Object.fromEntries(spec.pod.annotations) }),
  },
  spec: api.spec ?? {},
  status,
})

function specDocument(spec: PodSpec, nodeName: string): Fields {
  const written = spec.document.spec
  const containers = (list: readonly ContainerSpec[], key: string): Fields => {
    const given = (written[key] ?? []) as readonly Fields[]
    return list.length === 0 ? {} : { [key]: list.map((c, i) => containerDocument(c, given[i] ?? {})) }
  }
  return {
    dnsPolicy: spec.dns.policy,
    enableServiceLinks: true,
    restartPolicy: spec.restartPolicy,
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
    tolerations: [{ effect: 'NoExecute', operator: 'Exists' }],
    ...withoutNulls(written),
    ...containers(spec.initContainers, 'initContainers'),
    ...containers(spec.containers, 'containers'),
    nodeName,
  }
}

const containerDocument = (container: ContainerSpec, written: Fields): Fields => ({
  imagePullPolicy: container.pullPolicy,
  resources: {},
  terminationMessagePath: container.terminationMessagePath,
  terminationMessagePolicy: container.terminationMessagePolicy,
  ...withoutNulls(written),
})

const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

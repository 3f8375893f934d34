// Finds the pod and the container by name. Static pods have the node name as a suffix, which may be omitted.
import { keelsonError } from '../../core/errors.js'
import type { PodJson } from '../../core/pod/document.js'

export function choosePod(pods: readonly PodJson[], name: string, namespace: string | undefined): PodJson {
  const inNamespace = pods.filter((pod) => namespace === undefined || pod.metadata.namespace === namespace)
  const exact = inNamespace.filter((pod) => pod.metadata.name === name)
  const short = inNamespace.filter((pod) => pod.metadata.name === `${name}-${String(pod.spec['nodeName'])}`)
  const living = [...exact, ...short].filter((pod) => pod.metadata.deletionTimestamp === undefined)
  const found = living.length > 0 ? living : [...exact, ...short]
  const [first, second] = found
  if (first === undefined)
    throw keelsonError('pod.not-found', `pod ${name} not found${known(inNamespace)}`, { name })
  if (second !== undefined && second.metadata.namespace !== first.metadata.namespace)
    throw keelsonError('usage.invalid', `several pods are named ${name}; choose the namespace with -n`)
  return first
}

const known = (pods: readonly PodJson[]): string =>
  pods.length === 0
    ? '; there are no pods'
    : `; pods on this node: ${pods.map((pod) => pod.metadata.name).join(', ')}`

/** The first app container, as kubectl, unless one is named. */
export function chooseContainer(pod: PodJson, name: string | undefined): string {
  const names = [...pod.status.containerStatuses, ...(pod.status.initContainerStatuses ?? [])].map(
    (c) => c.name,
  )
  const chosen = name ?? names[0]
  if (chosen === undefined || !names.includes(chosen))
    throw keelsonError(
      'pod.not-found',
      `pod ${pod.metadata.name} has no container ${chosen ?? ''}; its containers: ${names.join(', ')}`,
    )
  return chosen
}

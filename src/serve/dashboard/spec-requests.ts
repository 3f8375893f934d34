// Requests as a kubelet knows them: from the pod itself. Better than anything that can be read back from a runtime.
import type { LiveRequest } from '../../core/dashboard/model.js'
import type { PodJson } from '../../core/pod/document.js'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../core/units/quantity.js'
import type { Clock } from '../../ports/clock.js'
import type { PodRef } from '../../stats/runtime/inventory.js'

export interface SpecRequests {
  container(pod: PodRef, name: string): LiveRequest | undefined
}

export const noSpecs: SpecRequests = { container: () => undefined }

const everyNanos = 5_000_000_000n

type Amounts = Readonly<Record<string, string | number>>
interface ContainerJson {
  readonly name?: string
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts }
}

/** A limit without a request is the request as well, as an API server fills it in. */
function requestOf({ resources }: ContainerJson): LiveRequest {
  const amount = (name: string) => {
    const text = resources?.requests?.[name] ?? resources?.limits?.[name]
    return text === undefined ? undefined : parseQuantity(String(text))
  }
  const [cpu, memory] = [amount('cpu'), amount('memory')]
  return {
    cpuMilli: cpu === undefined ? null : Number(quantityMilliValue(cpu)),
    memory: memory === undefined ? null : quantityValue(memory).toString(),
    from: memory === undefined ? null : 'spec',
  }
}

/** Asked from time to time only: the pods come as whole documents. */
export function createSpecRequests(clock: Clock, pods: () => readonly PodJson[]): SpecRequests {
  let kept = new Map<string, LiveRequest>()
  let readAt: bigint | undefined
  const key = (namespace: string, name: string, container: string): string =>
    `${namespace}/${name}/${container}`

  function read(): void {
    kept = new Map()
    for (const { metadata, spec } of pods())
      for (const list of [spec['initContainers'], spec['containers']])
        for (const container of (list ?? []) as readonly ContainerJson[])
          kept.set(key(metadata.namespace, metadata.name, container.name ?? ''), requestOf(container))
  }

  return {
    container(pod, name) {
      const now = clock.monotonicNanos()
      if (readAt === undefined || now - readAt > everyNanos) {
        read()
        readAt = now
      }
      return kept.get(key(pod.namespace, pod.name, name))
    },
  }
}

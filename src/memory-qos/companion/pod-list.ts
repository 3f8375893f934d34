// Pods of the source as the core reads them. One that cannot be read is named once and left alone; the others go on.

import { asKeelsonError, type KeelsonError } from '../../core/errors.js'
import type { PodTeller } from '../../core/pod/origin.js'
import type { PodResources } from '../../core/pod/pod.js'
import type { Log } from '../../ports/log.js'
import type { PodSource } from '../../ports/pod-source.js'
import { parseActuatedPod } from '../decide/actuated-pod.js'

export function createPodList(source: PodSource, log: Log): () => readonly PodResources[] | undefined {
  const parsed = new WeakMap<object, PodResources>()
  let reported = new Set<string>()
  return () => {
    const problems = new Set<string>()
    const pods = source.current()?.flatMap((item) => {
      if (typeof item !== 'object' || item === null) return []
      const known = parsed.get(item)
      if (known !== undefined) return [known]
      const read = readPod(item, source.teller)
      if ('error' in read) {
        // A kubelet's list is made of new objects each time.
        const problem = `${read.name}\0${read.error.message}`
        problems.add(problem)
        if (!reported.has(problem))
          log.warn('ignoring a pod that cannot be read', { pod: read.name, error: read.error })
        return []
      }
      if (read.uid === '') return []
      parsed.set(item, read)
      return [read]
    })
    reported = problems
    return pods
  }
}

function readPod(
  item: object,
  teller: PodTeller,
): PodResources | { readonly name: string; readonly error: KeelsonError } {
  try {
    return parseActuatedPod(item, teller)
  } catch (e) {
    return { name: nameOf(item), error: asKeelsonError(e) }
  }
}

function nameOf(item: object): string {
  const { metadata } = item as { readonly metadata?: unknown }
  const { namespace, name } = (metadata ?? {}) as Readonly<Record<string, unknown>>
  return `${String(namespace ?? 'default')}/${String(name ?? '')}`
}

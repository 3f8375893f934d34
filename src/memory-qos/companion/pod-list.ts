// Pods of the source as the core reads them. One that cannot be read is named once and left alone; the others go on.
import { parseActuatedPod } from '../../core/actuated-pod.js'
import { asKeelsonError } from '../../core/errors.js'
import type { Pod } from '../../core/pod.js'
import type { Log } from '../../ports/log.js'
import type { PodSource } from '../../ports/pod-source.js'

export function createPodList(source: PodSource, log: Log): () => readonly Pod[] | undefined {
  const parsed = new WeakMap<object, Pod | undefined>()
  return () =>
    source.current()?.flatMap((item) => {
      if (typeof item !== 'object' || item === null) return []
      if (!parsed.has(item)) parsed.set(item, read(item, log))
      const pod = parsed.get(item)
      return pod === undefined ? [] : [pod]
    })
}

function read(item: object, log: Log): Pod | undefined {
  try {
    const pod = parseActuatedPod(item)
    return pod.uid === '' ? undefined : pod
  } catch (e) {
    log.warn('a pod cannot be read and is left alone', { error: asKeelsonError(e) })
    return undefined
  }
}

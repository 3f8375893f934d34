// Containers that run with another definition than the pod has now (its image was changed): they are ended and started anew,
// whatever the restart policy.
import { isStaticPod } from '../../../core/pod/pod.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { PodAction } from './actions.js'
import { containerHash } from './container-hash.js'
import { newestOf, type ObservedPod, type ObservedSandbox } from './observed.js'

export function planReplacements(
  observed: ObservedPod,
  spec: PodSpec,
  sandbox: ObservedSandbox,
): readonly PodAction[] {
  // A manifest with another image is another static pod.
  if (isStaticPod(spec.pod)) return []
  const changed = [...spec.initContainers.filter((c) => c.kind === 'sidecar'), ...spec.containers].flatMap(
    (container) => {
      const newest = newestOf(observed, container.name)
      if (newest?.state !== 'running' || newest.sandboxId !== sandbox.id) return []
      // Without a hash it was not started by a kubelet; there is nothing to compare.
      return newest.hash === '' || newest.hash === containerHash(container) ? [] : [newest]
    },
  )
  if (changed.length === 0) return []
  const grace = spec.terminationGracePeriodSeconds
  return [
    {
      kind: 'stop-containers',
      targets: changed.map(({ id, name, kind }) => ({
        id,
        name,
        kind,
        message: `${kind === 'sidecar' ? 'Init container' : 'Container'} ${name} definition changed, will be restarted`,
      })),
      graceSeconds: grace,
      why: 'its definition changed',
      killedFor: 'change',
    },
    ...changed.map(
      ({ name, attempt }): PodAction => ({
        kind: 'start-container',
        name,
        attempt: attempt + 1,
        endedAtNanos: undefined,
      }),
    ),
  ]
}

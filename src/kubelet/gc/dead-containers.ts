// Removes what pods that have ended for good still have in the runtime, with their logs: the space is needed more than they are.
import { asKeelsonError, rethrowBug } from '../../core/errors.js'
import type { PodContext } from '../pods/context.js'
import { isAlive } from '../pods/decide/observed.js'
import { forgetContainers } from '../pods/run/prepare.js'

/** `uids`: pods that will never be started again. How many sandboxes were removed. */
export async function removeDeadContainers(
  uids: readonly string[],
  c: PodContext,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0
  const options = { timeoutMs: c.timeoutMs, signal }
  for (const uid of uids) {
    const pod = c.view.get(uid)
    if (pod === undefined || pod.containers.some(isAlive)) continue
    for (const { id, ready } of pod.sandboxes) {
      if (ready) continue
      try {
        c.log.info('removing a dead sandbox to free space', {
          pod: `${pod.namespace}/${pod.name}`,
          sandbox: id,
        })
        // Stopped once more: a sandbox that died by itself has network that only stopping it gives back.
        await c.runtime.stopPodSandbox({ podSandboxId: id }, options)
        await c.runtime.removePodSandbox({ podSandboxId: id }, options)
        removed += 1
        await forgetContainers(pod, (container) => container.sandboxId === id, c)
      } catch (e) {
        signal.throwIfAborted()
        if (asKeelsonError(e).code !== 'runtime.not-found')
          c.log.warn('failed to remove a dead sandbox', { sandbox: id, error: rethrowBug(e) })
      }
    }
  }
  return removed
}

// What keeps a container from starting, told apart from what is wrong with the runtime or the kubelet itself.
import { asKeelsonError, type KeelsonError } from '../../../core/errors.js'
import { faultRetryNanos } from '../../images/decide/image-pull.js'
import type { PodContext } from '../context.js'
import type { Hold } from '../decide/actions.js'
import { isRuntimeUnreachable } from '../view/runtime-unreachable.js'
import { runtimeText } from './runtime-text.js'

/** Not a fault of this container: thrown on. */
export const isNoFault = (error: KeelsonError, signal: AbortSignal): boolean =>
  signal.aborted || error.code === 'internal.unexpected' || isRuntimeUnreachable(error)

export const fault = (c: Pick<PodContext, 'clock'>, reason: string, message: string): Hold => ({
  untilNanos: c.clock.monotonicNanos() + faultRetryNanos,
  reason,
  message,
})

export function asHold(e: unknown, c: PodContext, signal: AbortSignal, reason: string): Hold {
  const error = asKeelsonError(e)
  if (isNoFault(error, signal)) throw e
  return fault(c, reason, runtimeText(error))
}

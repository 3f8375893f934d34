// Hands the calls of our own methods to them. In observe mode the runtime's answer goes by unchanged, and what it lacks is
// written down.
import { asKeelsonError } from '../../core/errors.js'
import type { ServerCall } from '../../ports/cri-calls.js'
import type { Step } from '../chain.js'
import { methods } from '../methods/index.js'
import { observe } from '../observe-mode.js'

export const answerLocally: Step = (services) => {
  const byPath = new Map(methods.map((m) => [m.path, m]))
  return async (call, next) => {
    const method = byPath.get(call.path)
    if (method === undefined) return await next(call)
    // What we cannot read goes on as it is: the runtime's word about it is the right one.
    if (!(await isReadable(call))) return await next(call)
    return services.mode === 'observe'
      ? await observe(method, call, services)
      : await method.run(call, services)
  }
}

const isReadable = (call: ServerCall): Promise<boolean> =>
  call.readMessage().then(
    () => true,
    (e: unknown) => {
      if (asKeelsonError(e).code === 'request.invalid') return false
      throw e
    },
  )

// Hands the calls of our own methods to them. In observe mode (`--mode observe`) the runtime's answer is relayed unchanged,
// and the RPCs and fields that it lacks are recorded.
import { grpcCode } from '../../core/cri/grpc-codes.js'
import { asKeelsonError } from '../../core/errors.js'
import type { CallEnding, ServerCall } from '../../ports/cri-calls.js'
import { methods } from '../methods/index.js'
import type { CriMethod } from '../methods/method.js'
import type { Services, Step } from '../services.js'

export const answerLocally: Step = (services) => {
  const byPath = new Map(methods.map((m) => [m.path, m]))
  return async (call, next) => {
    const method = byPath.get(call.path)
    if (method === undefined) return await next(call)
    // A request that we cannot read is forwarded: the runtime decides about it.
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

async function observe(method: CriMethod, call: ServerCall, { table, log }: Services): Promise<CallEnding> {
  if (method.streams === true) {
    const ending = await call.passOn()
    if (ending.code === grpcCode.unimplemented) table.noteMissing(call.path)
    return ending
  }
  const answer = await call.ask()
  if (answer.code === grpcCode.unimplemented) table.noteMissing(call.path)
  if (answer.message !== undefined && method.missingFields !== undefined)
    try {
      for (const field of method.missingFields(answer.message)) table.noteMissing(call.path, field)
    } catch (error) {
      log.debug("the runtime's answer could not be decoded", { path: call.path, error })
    }
  return await call.relay(answer)
}

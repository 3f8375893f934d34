// `--mode observe`: the answer of the runtime as it is, and a note of the RPCs and fields that it lacks.

import { grpcCode } from '../core/cri/grpc-codes.js'
import type { CallEnding, ServerCall } from '../ports/cri-calls.js'
import type { CriMethod } from './methods/method.js'
import type { Services } from './services.js'

export async function observe(
  method: CriMethod,
  call: ServerCall,
  { table, log }: Services,
): Promise<CallEnding> {
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
      log.debug('an answer could not be read', { path: call.path, error })
    }
  return await call.relay(answer)
}

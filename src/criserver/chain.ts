// The road of every call through the CRI server. The list is the documentation.
import { grpcCode } from '../core/cri/grpc-codes.js'
import type { CallEnding, CallHandler, ServerCall } from '../ports/cri-calls.js'
import type { Services } from './services.js'
import { accessLog } from './steps/access-log.js'
import { answerLocally } from './steps/answer-locally.js'
import { callMetrics } from './steps/call-metrics.js'
import { deadline } from './steps/deadline.js'
import { passThrough } from './steps/pass-through.js'

export type Step = (services: Services) => (call: ServerCall, next: CallHandler) => Promise<CallEnding>

/** Read top to bottom: outermost first. A step may rely on what follows it, never on what precedes. */
export const steps: readonly Step[] = [deadline, accessLog, callMetrics, answerLocally, passThrough]

const unimplemented: CallHandler = (call) =>
  call.refuse({ code: grpcCode.unimplemented, message: `keelson: nobody answers ${call.path}` })

export const createChain = (services: Services, list: readonly Step[] = steps): CallHandler =>
  list
    .map((step) => step(services))
    .reduceRight<CallHandler>((next, step) => (call) => step(call, next), unimplemented)

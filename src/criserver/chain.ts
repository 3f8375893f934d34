// The way of every call through the CRI server: this list is what runs.
import { grpcCode } from '../core/cri/grpc-codes.js'
import type { CallHandler } from '../ports/cri-calls.js'
import type { Services, Step } from './services.js'
import { accessLog } from './steps/access-log.js'
import { answerLocally } from './steps/answer-locally.js'
import { callMetrics } from './steps/call-metrics.js'
import { deadline } from './steps/deadline.js'
import { passThrough } from './steps/pass-through.js'
import { wakeEvents } from './steps/wake-events.js'

/** Outermost first. A step may rely on those after it, never on those before. */
const steps: readonly Step[] = [deadline, accessLog, callMetrics, wakeEvents, answerLocally, passThrough]

const unimplemented: CallHandler = (call) =>
  call.refuse({ code: grpcCode.unimplemented, message: `keelson: ${call.path} is not implemented` })

export const createChain = (services: Services): CallHandler =>
  steps
    .map((step) => step(services))
    .reduceRight<CallHandler>((next, step) => (call) => step(call, next), unimplemented)

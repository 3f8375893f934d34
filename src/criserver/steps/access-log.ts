// One debug line per call.
import type { Step } from '../services.js'

export const accessLog: Step =
  ({ log, clock }) =>
  async (call, next) => {
    const begun = clock.monotonicNanos()
    const ending = await next(call)
    log.debug('call', {
      path: call.path,
      code: ending.code,
      maker: ending.maker,
      ms: Number(clock.monotonicNanos() - begun) / 1e6,
      requestBytes: ending.requestBytes,
      answerBytes: ending.answerBytes,
    })
    return ending
  }

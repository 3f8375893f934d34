// Holds every call to its caller's deadline, so that a hanging runtime cannot pile calls up in us.
import type { Step } from '../services.js'

/** The runtime has the deadline too; its own answer goes first. */
const graceMs = 500
/** Timers of Node end at 2^31 ms; a call with a deadline in weeks has none. */
const longestMs = 2 ** 31 - 1 - graceMs

export const deadline: Step = () => async (call, next) => {
  const { timeoutMs } = call
  if (timeoutMs === undefined || timeoutMs > longestMs) return await next(call)
  const timer = setTimeout(() => call.expire(), timeoutMs + graceMs)
  try {
    return await next(call)
  } finally {
    clearTimeout(timer)
  }
}

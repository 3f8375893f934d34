// Shared with preflight. Below another root (--rootfs) the running system says nothing, so it is only a warning there.
import type { HostFacts, RuntimeAnswer } from '../../ports/bootstrap.js'
import { type Check, error, ok, skipped, warn } from '../check.js'

interface Facts {
  readonly endpoint: string
  readonly endpointAnswers: boolean
  /** This user may not open it. */
  readonly endpointDenied?: boolean
  readonly runtimeLate?: boolean
  readonly runtime: RuntimeAnswer | undefined
  readonly host: Pick<HostFacts, 'privileged'>
}

export const runtimeAnswers: Check<Facts> = {
  name: 'runtime-answers',
  asks: 'Does a container runtime respond at the endpoint?',
  run({ endpoint, endpointAnswers, endpointDenied, runtimeLate, runtime, host }) {
    const say = host.privileged === undefined ? warn : error
    if (endpointDenied === true) return skipped(`this user may not open ${endpoint}; run as root`)
    if (!endpointAnswers)
      return say(`no runtime responds at ${endpoint}`, 'start the runtime, or choose another endpoint')
    if (runtimeLate === true)
      return warn(
        `the runtime at ${endpoint} did not respond in time`,
        'check its log and the load of the machine, or allow more time with --timeout',
      )
    if (runtime === undefined)
      return say(
        `the server at ${endpoint} does not implement CRI v1`,
        'check that it is a container runtime',
      )
    return ok(`${runtime.name} ${runtime.version} at ${endpoint}`)
  },
}

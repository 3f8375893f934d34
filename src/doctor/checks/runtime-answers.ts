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
  asks: 'Does a container runtime answer at the chosen endpoint?',
  run({ endpoint, endpointAnswers, endpointDenied, runtimeLate, runtime, host }) {
    const say = host.privileged === undefined ? warn : error
    if (endpointDenied === true)
      return skipped(`this user may not open ${endpoint}; run it as root to ask the runtime`)
    if (!endpointAnswers)
      return say(`nothing answers at ${endpoint}`, 'start the runtime, or choose another endpoint')
    if (runtimeLate === true)
      return warn(
        `the runtime at ${endpoint} did not answer in time`,
        'look at its load and its log, or give the doctor more with --timeout',
      )
    if (runtime === undefined)
      return say(`what answers at ${endpoint} does not speak CRI v1`, 'check that it is a container runtime')
    return ok(`${runtime.name} ${runtime.version} at ${endpoint}`)
  },
}

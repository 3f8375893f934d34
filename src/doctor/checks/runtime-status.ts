// The runtime's own conditions.
import { type Check, error, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const runtimeStatus: Check<DoctorFacts> = {
  name: 'runtime-status',
  asks: 'Does the runtime report that it is ready?',
  run({ runtimeFacts }) {
    if (runtimeFacts === undefined) return skipped('no runtime responded')
    const evidence = runtimeFacts.conditions.map(
      (c) => `${c.type}: ${c.status}${c.message === '' ? '' : ` (${c.message})`}`,
    )
    const bad = runtimeFacts.conditions.filter((c) => !c.status).map((c) => c.type)
    if (bad.includes('RuntimeReady'))
      return error('the runtime is not ready', 'check the log of the runtime', evidence)
    if (bad.includes('NetworkReady'))
      return warn(
        'the runtime has no pod network, so only pods with hostNetwork start',
        'install a CNI configuration in /etc/cni/net.d and its plugins in the plugin directory of the runtime',
        evidence,
      )
    return bad.length === 0
      ? ok(...evidence)
      : warn(`the runtime reports: ${bad.join(', ')}`, 'check the log of the runtime', evidence)
  },
}

// The runtime's own conditions.
import { type Check, error, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const runtimeStatus: Check<DoctorFacts> = {
  name: 'runtime-status',
  asks: 'Does the runtime say that it is ready?',
  run({ runtimeFacts }) {
    if (runtimeFacts === undefined) return skipped('no runtime answered')
    const evidence = runtimeFacts.conditions.map(
      (c) => `${c.type}: ${c.status}${c.message === '' ? '' : ` (${c.message})`}`,
    )
    const bad = runtimeFacts.conditions.filter((c) => !c.status).map((c) => c.type)
    if (bad.includes('RuntimeReady'))
      return error('the runtime says that it is not ready', "look at the runtime's log", evidence)
    if (bad.includes('NetworkReady'))
      return warn(
        'the runtime has no pod network, so only pods with hostNetwork start',
        'put a CNI configuration into /etc/cni/net.d and its programs into the directory that the runtime names',
        evidence,
      )
    return bad.length === 0
      ? ok(...evidence)
      : warn(`the runtime reports: ${bad.join(', ')}`, "look at the runtime's log", evidence)
  },
}

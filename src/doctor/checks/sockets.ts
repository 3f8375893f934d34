// KEP-4656: the places that name a CRI socket, where they contradict each other. What `keelson node status` shows.
import { type Check, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

/** Questions of their own: runtime-answers and stale-endpoint-flag. */
const askedElsewhere = ['no-answer', 'stale-flag']

export const sockets: Check<DoctorFacts> = {
  name: 'sockets',
  asks: 'Do all places that name a CRI socket agree?',
  run({ sockets: status }) {
    if (status === undefined) return skipped('the files of this node are not readable')
    const evidence = Object.values(status.places)
      .filter((p) => p.endpoint !== undefined)
      .map((p) => `${p.place}: ${p.endpoint}`)
    const findings = status.findings.filter((f) => !askedElsewhere.includes(f.id))
    return findings.length === 0
      ? ok(...evidence)
      : findings.map(({ problem, remedy }) => warn(problem, remedy, evidence))
  },
}

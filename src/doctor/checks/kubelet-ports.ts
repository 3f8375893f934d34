// What the kubelet's ports really return to a request without credentials, whatever the configuration says.
import type { PortAnswer } from '../../ports/diagnosis.js'
import { type Check, error, type Finding, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const kubeletPorts: Check<DoctorFacts> = {
  name: 'kubelet-ports',
  asks: 'Are the kubelet ports closed to unauthenticated requests?',
  run({ kubelet }) {
    const evidence = kubelet.ports.map((p) => `${p.address}:${p.port}${p.path} (${p.what}): ${p.answer}`)
    const open = kubelet.ports.filter((p) => p.answer !== 'closed')
    if (open.length === 0 && kubelet.process === undefined) return skipped('no kubelet is running')
    const found = kubelet.ports.flatMap((p): Finding[] => judge(p, kubelet.process !== undefined, evidence))
    return found.length === 0 ? ok(...evidence) : found
  },
}

const isGood = (answer: PortAnswer['answer']): boolean =>
  typeof answer === 'number' && answer >= 200 && answer < 300

function judge({ what, port, answer }: PortAnswer, runs: boolean, evidence: readonly string[]): Finding[] {
  if (what === 'kubelet' && isGood(answer))
    return [
      error(
        `port ${port} shows pods without credentials`,
        'set authentication.anonymous.enabled: false and authorization.mode: Webhook, then restart the kubelet',
        evidence,
      ),
    ]
  if (what === 'read-only' && isGood(answer))
    return [
      error(`the read-only port ${port} is open`, 'set readOnlyPort: 0 and restart the kubelet', evidence),
    ]
  if (what === 'kubelet' && runs && (answer === 'closed' || answer === 'silent'))
    return [
      warn(`the kubelet is running, but port ${port} is ${answer}`, 'check the log of the kubelet', evidence),
    ]
  if (what === 'healthz' && runs && answer !== 'closed' && !isGood(answer))
    return [
      warn(
        `the kubelet reports that it is not healthy (${answer})`,
        'check the log of the kubelet',
        evidence,
      ),
    ]
  return []
}

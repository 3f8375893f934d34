// KEP-4033: the driver in use, against everything the node shows of it.

import { formatOrigin } from '../../config/origin.js'
import { type DriverDecision, decideDriver } from '../../core/driver/decide-driver.js'
import { type ProofFinding, proveDriver } from '../../core/driver/proof.js'
import { isGateEnabled } from '../../core/release/gates.js'
import { formatVersion } from '../../core/release/version.js'
import { counted } from '../../core/units/counted.js'
import { type Check, error, type Finding, ok, skipped, warn } from '../check.js'
import type { DoctorFacts, RuntimeFacts } from '../facts.js'

/** These break pods or take their limits away; the others are trouble to come. */
const severe: readonly ProofFinding['id'][] = [
  'sandboxes-under-other-driver',
  'fallback-against-sandboxes',
  'sandboxes-outside-pod-cgroups',
  'both-pod-trees-in-use',
]

export const cgroupDriver: Check<DoctorFacts> = {
  name: 'cgroup-driver',
  asks: 'Do kubelet, runtime and running pods use the same cgroup driver?',
  run(facts) {
    const { runtimeFacts, machine } = facts
    if (runtimeFacts === undefined || machine === undefined) return skipped('no runtime responded')
    const decision = decide(facts, runtimeFacts)
    if (decision.kind === 'refused')
      return error(
        decision.message,
        'the kubelet does not start with this: fix the runtime or the configuration',
      )
    const { driver, source, fallback } = decision
    if (driver === undefined) return skipped('this node has no cgroups')
    const proof = proveDriver({
      ...runtimeFacts,
      inUse: { driver, source, fallback },
      hostHasSystemd: machine.systemd,
      // A beaten file is the business of stale-endpoint-flag and sockets.
      endpoint: { used: facts.endpoint, beaten: undefined },
    })
    const evidence = [
      `driver ${driver}, from ${source === 'cri' ? 'the runtime' : source}`,
      `${counted(proof.agreeing, 'running sandbox agrees', 'running sandboxes agree')}`,
    ]
    if (driver === 'systemd' && !machine.systemd)
      return error(
        'the cgroup driver is systemd, but systemd is not running on this host',
        'set the runtime to cgroupfs (containerd: SystemdCgroup = false), or boot with systemd',
        evidence,
      )
    if (proof.findings.length === 0) return ok(...evidence)
    return proof.findings.map((f) => toFinding(f, evidence))
  },
}

const toFinding = (
  { id, message, remedy, sandboxes = [] }: ProofFinding,
  evidence: readonly string[],
): Finding => (severe.includes(id) ? error : warn)(message, remedy, [...evidence, ...sandboxes])

function decide(facts: DoctorFacts, { driver }: RuntimeFacts): DriverDecision {
  const { config } = facts.kubelet.loaded
  const { rules, configured, origin } = config.cgroupDriver
  return decideDriver({
    answer: isGateEnabled(config.gates, 'KubeletCgroupDriverFromCRI') ? driver : { kind: 'not-asked' },
    configured: {
      value: configured,
      source:
        origin.from === 'file'
          ? 'config'
          : origin.from === 'drop-in'
            ? 'dropin'
            : origin.from === 'flag'
              ? 'flag'
              : 'default',
      place: formatOrigin(origin),
    },
    rules,
    kubernetes: formatVersion(config.version),
    os: facts.host.os,
    standalone: true,
    socket: facts.endpoint,
  })
}

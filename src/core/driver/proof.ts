// Whether the driver in use agrees with what the node shows: cgroups of running sandboxes, both pod trees, systemd on
// the host, the runtime's handlers, and the endpoint that was asked. Each disagreement comes with its remedy.

import type { CgroupDriver } from '../cgroup/name.js'
import { counted } from '../units/counted.js'
import type { DriverInUse } from './decide-driver.js'
import { classifyCgroupPath, type HandlerSetting } from './evidence.js'

export interface SandboxCgroup {
  readonly id: string
  /** `namespace/name` */
  readonly pod: string
  readonly path: string
}

export interface EndpointChoice {
  readonly used: string
  /** What the file says and the flag beat; undefined: nothing was beaten. */
  readonly beaten: { readonly value: string; readonly place: string } | undefined
}

export interface ProofFacts {
  readonly inUse: Pick<DriverInUse, 'source' | 'fallback'> & { readonly driver: CgroupDriver }
  readonly sandboxes: readonly SandboxCgroup[]
  /** Pod trees that hold processes. */
  readonly populated: Readonly<Record<CgroupDriver, boolean>>
  readonly hostHasSystemd: boolean
  readonly handlers: readonly HandlerSetting[]
  readonly endpoint: EndpointChoice
}

type ProofFindingId =
  | 'sandboxes-under-other-driver'
  | 'fallback-against-sandboxes'
  | 'sandboxes-outside-pod-cgroups'
  | 'both-pod-trees-in-use'
  | 'cgroupfs-on-systemd-host'
  | 'handlers-differ'
  | 'endpoint-flag-beats-file'

export interface ProofFinding {
  readonly id: ProofFindingId
  readonly message: string
  readonly remedy: string
  /** Named where the finding is about some of them, at most maxNamed. */
  readonly sandboxes?: readonly string[]
}

export interface DriverProof {
  /** Sandboxes whose paths agree with the driver in use. */
  readonly agreeing: number
  /** Sandboxes whose paths say nothing. */
  readonly silent: number
  readonly findings: readonly ProofFinding[]
}

const maxNamed = 20
const drain = 'drain the node, end the pods of the old driver, then restart the kubelet; nothing was moved'

export function proveDriver(facts: ProofFacts): DriverProof {
  const { driver } = facts.inUse
  const read = facts.sandboxes.map((s) => ({ ...s, evidence: classifyCgroupPath(s.path) }))
  const other: CgroupDriver = driver === 'systemd' ? 'cgroupfs' : 'systemd'
  const findings = [
    ...differing(
      facts,
      other,
      read.filter((s) => s.evidence === other),
    ),
    ...escaped(read.filter((s) => s.evidence === 'mismatch')),
    ...bothTrees(facts),
    ...cgroupfsOnSystemd(facts),
    ...handlersDiffer(facts),
    ...endpointBeaten(facts),
  ]
  return {
    agreeing: read.filter((s) => s.evidence === driver).length,
    silent: read.filter((s) => s.evidence === 'other').length,
    findings,
  }
}

const named = (list: readonly SandboxCgroup[]): readonly string[] =>
  list.slice(0, maxNamed).map((s) => `${s.pod} ${s.id.slice(0, 13)}`)

function differing(
  { inUse }: ProofFacts,
  other: CgroupDriver,
  list: readonly SandboxCgroup[],
): readonly ProofFinding[] {
  if (list.length === 0) return []
  const message = `the driver in use is ${inUse.driver}, but ${counted(list.length, 'running sandbox has', 'running sandboxes have')} cgroups of ${other}`
  const sandboxes = named(list)
  // The runtime did not say, so what it does is better evidence than what is configured.
  return inUse.fallback !== undefined || inUse.source !== 'cri'
    ? [
        {
          id: 'fallback-against-sandboxes',
          message: `${message}, which shows what the runtime really uses`,
          remedy: `set cgroupDriver: ${other}, or change the runtime's driver; then ${drain}`,
          sandboxes,
        },
      ]
    : [{ id: 'sandboxes-under-other-driver', message, remedy: drain, sandboxes }]
}

function escaped(list: readonly SandboxCgroup[]): readonly ProofFinding[] {
  if (list.length === 0) return []
  return [
    {
      id: 'sandboxes-outside-pod-cgroups',
      message: `${counted(list.length, 'running sandbox is', 'running sandboxes are')} in a directory named like a systemd unit, outside of all pod limits: the kubelet used systemd and the runtime cgroupfs`,
      remedy:
        'give runtime and kubelet the same driver (containerd: SystemdCgroup = true), then recreate these pods',
      sandboxes: named(list),
    },
  ]
}

function bothTrees({ populated }: ProofFacts): readonly ProofFinding[] {
  if (!populated.cgroupfs || !populated.systemd) return []
  return [
    {
      id: 'both-pod-trees-in-use',
      message:
        'kubepods and kubepods.slice both hold processes: the driver was changed without draining the node',
      remedy: drain,
    },
  ]
}

function cgroupfsOnSystemd({ inUse, hostHasSystemd }: ProofFacts): readonly ProofFinding[] {
  if (inUse.driver !== 'cgroupfs' || !hostHasSystemd) return []
  const who =
    inUse.source === 'cri'
      ? 'the runtime says cgroupfs on a host that runs systemd; an untouched containerd 2 does this after an upgrade from 1.7'
      : 'cgroupfs is configured on a host that runs systemd'
  return [
    {
      id: 'cgroupfs-on-systemd-host',
      message: `${who}, so two managers share the cgroup tree`,
      remedy:
        'set SystemdCgroup = true in the runc options of containerd (CRI-O: cgroup_manager), drain, restart both',
    },
  ]
}

function handlersDiffer({ handlers, inUse }: ProofFacts): readonly ProofFinding[] {
  const wrong = handlers.filter((h) => h.driver !== undefined && h.driver !== inUse.driver)
  if (wrong.length === 0) return []
  const names = wrong.map((h) => `${h.name} (${h.driver ?? ''})`).join(', ')
  return [
    {
      id: 'handlers-differ',
      message: `runtime handlers do not use the driver ${inUse.driver}: ${names}; their pods will fail or escape their limits`,
      remedy: `set SystemdCgroup = ${inUse.driver === 'systemd'} for each of them and restart the runtime`,
    },
  ]
}

function endpointBeaten({ endpoint }: ProofFacts): readonly ProofFinding[] {
  if (endpoint.beaten === undefined) return []
  const { value, place } = endpoint.beaten
  return [
    {
      id: 'endpoint-flag-beats-file',
      message: `--container-runtime-endpoint ${endpoint.used} overrides ${value} of ${place}: the driver is that of the runtime at the flag's socket`,
      remedy: 'remove the flag, often left over in /var/lib/kubelet/kubeadm-flags.env',
    },
  ]
}

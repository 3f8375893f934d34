// A pod to the PodSandboxConfig that the runtime is given. Pure.

import type { PodSpec, Protocol as PortProtocol } from '../../../core/pod/spec/spec.js'
import { allContainerSpecs } from '../../../core/pod/spec/spec.js'
import { type DeepPartial, type PodSandboxConfig, type PortMapping, Protocol } from '../../../cri-api/api.js'
import type { ResolvConf } from '../../names/decide/resolv-conf.js'
import { type KubeletIdentity, ownMarks } from '../decide/owner.js'
import { type PodPaths, podLabels, podLogDirectory } from './names.js'
import { namespaceOptions, runtimeDefault } from './namespaces.js'

interface SandboxFacts {
  readonly paths: PodPaths
  /** Full path of the pod's cgroup in the notation of the driver. */
  readonly cgroupParent: string
  /** The kernel's name of the pod's host. */
  readonly hostname: string
  readonly dns: ResolvConf
  readonly identity: KubeletIdentity
  readonly manifest: string
}

export function sandboxConfig(
  spec: PodSpec,
  attempt: number,
  facts: SandboxFacts,
): DeepPartial<PodSandboxConfig> {
  const { pod } = spec
  const { dns } = facts
  return {
    metadata: { name: pod.name, namespace: pod.namespace, uid: pod.uid, attempt },
    // A name of its own needs a UTS namespace of its own, which the host network does not come with.
    hostname: spec.hostNetwork ? '' : facts.hostname,
    logDirectory: podLogDirectory(facts.paths, pod),
    dnsConfig: { servers: [...dns.nameservers], searches: [...dns.searches], options: [...dns.options] },
    portMappings: portMappings(spec),
    labels: podLabels(spec),
    annotations: { ...Object.fromEntries(pod.annotations), ...ownMarks(facts.identity, facts.manifest) },
    linux: {
      cgroupParent: facts.cgroupParent,
      sysctls: Object.fromEntries(spec.security.sysctls),
      securityContext: {
        namespaceOptions: namespaceOptions(spec),
        privileged: allContainerSpecs(spec).some((c) => c.security.privileged),
        seccomp: runtimeDefault,
        supplementalGroups: podGroups(spec).map(BigInt),
        ...(spec.security.seLinux === undefined ? {} : { selinuxOptions: spec.security.seLinux }),
        ...(spec.security.runAsUser === undefined
          ? {}
          : { runAsUser: { value: BigInt(spec.security.runAsUser) } }),
        // The runtime takes a group only together with a user.
        ...(spec.security.runAsUser === undefined || spec.security.runAsGroup === undefined
          ? {}
          : { runAsGroup: { value: BigInt(spec.security.runAsGroup) } }),
      },
    },
  }
}

export const podGroups = ({ security }: PodSpec): readonly number[] => [
  ...new Set([...security.supplementalGroups, ...(security.fsGroup === undefined ? [] : [security.fsGroup])]),
]

const protocols: Readonly<Record<PortProtocol, Protocol>> = {
  TCP: Protocol.TCP,
  UDP: Protocol.UDP,
  SCTP: Protocol.SCTP,
}

function portMappings(spec: PodSpec): DeepPartial<PortMapping>[] {
  if (spec.hostNetwork) return []
  return allContainerSpecs(spec)
    .flatMap((container) => container.ports)
    .filter((port) => port.hostPort > 0)
    .map(({ protocol, containerPort, hostPort, hostIP }) => ({
      protocol: protocols[protocol],
      containerPort,
      hostPort,
      hostIp: hostIP,
    }))
}

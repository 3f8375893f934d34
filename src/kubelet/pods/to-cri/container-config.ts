// A container of a pod to the ContainerConfig that the runtime is given. Pure.

import { effectiveUser } from '../../../core/pod/spec/security.js'
import type { ContainerSpec, PodSpec } from '../../../core/pod/spec/spec.js'
import {
  type ContainerConfig,
  type DeepPartial,
  type LinuxContainerSecurityContext,
  type Mount,
  MountPropagation,
  SupplementalGroupsPolicy,
} from '../../../cri-api/api.js'
import type { ContainerWords } from '../../environment/decide/container-env.js'
import type { ContainerMount } from '../../volumes/container-mounts.js'
import type { PlannedResources } from './container-resources.js'
import {
  containerAnnotations,
  containerLabels,
  containerLogPath,
  hostsFile,
  type PodPaths,
  terminationLog,
} from './names.js'
import { appArmorProfile, containerNamespaces, seccompProfile } from './namespaces.js'
import { podGroups } from './sandbox-config.js'

interface ContainerFacts {
  readonly words: ContainerWords
  /** Whose processes an ephemeral container sees. */
  readonly targetId: string | undefined
  /** False for a pod whose network gave it no address. */
  readonly hasHostsFile: boolean
  readonly mounts: readonly ContainerMount[]
  readonly paths: PodPaths
  readonly attempt: number
  /** What the runtime knows the image by. */
  readonly imageRef: string
  /** Of the image, for containers that name no user. */
  readonly imageUid: bigint | undefined
  readonly imageUser: string
  readonly resources: PlannedResources
  /** A container without a seccomp profile gets the runtime's own. */
  readonly seccompDefault: boolean
}

/** What the kernel shows below /proc and /sys that a container need not see or change. */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

export function containerConfig(
  spec: PodSpec,
  container: ContainerSpec,
  facts: ContainerFacts,
): DeepPartial<ContainerConfig> {
  const { env, command, args } = facts.words
  return {
    metadata: { name: container.name, attempt: facts.attempt },
    image: { image: facts.imageRef, userSpecifiedImage: container.image },
    command: [...command],
    args: [...args],
    workingDir: container.workingDir ?? '',
    envs: env.map(({ key, value }) => ({ key, value: Buffer.from(value) })),
    mounts: mountsOf(spec, container, facts),
    labels: containerLabels(spec, container),
    annotations: containerAnnotations(spec, container, facts.attempt),
    logPath: containerLogPath(container.name, facts.attempt),
    stdin: container.stdin,
    stdinOnce: container.stdinOnce,
    tty: container.tty,
    linux: { resources: facts.resources, securityContext: securityContext(spec, container, facts) },
  }
}

function securityContext(
  spec: PodSpec,
  container: ContainerSpec,
  facts: ContainerFacts,
): DeepPartial<LinuxContainerSecurityContext> {
  const { security } = container
  const user = effectiveUser(spec.security, security)
  const appArmor = appArmorProfile(user.appArmor)
  const runAsUser = user.runAsUser === undefined ? facts.imageUid : BigInt(user.runAsUser)
  return {
    privileged: security.privileged,
    capabilities: {
      addCapabilities: [...security.addCapabilities],
      dropCapabilities: [...security.dropCapabilities],
    },
    namespaceOptions: containerNamespaces(spec, facts.targetId),
    readonlyRootfs: security.readOnlyRootFilesystem,
    noNewPrivs: security.allowPrivilegeEscalation === false,
    maskedPaths,
    readonlyPaths,
    seccomp: seccompProfile(user.seccomp, {
      rootDir: facts.paths.rootDir,
      seccompDefault: facts.seccompDefault,
    }),
    ...(appArmor === undefined ? {} : { apparmor: appArmor }),
    ...(runAsUser === undefined ? {} : { runAsUser: { value: runAsUser } }),
    ...(runAsUser === undefined ? { runAsUsername: facts.imageUser } : {}),
    ...(user.runAsGroup === undefined ? {} : { runAsGroup: { value: BigInt(user.runAsGroup) } }),
    supplementalGroups: podGroups(spec).map(BigInt),
    supplementalGroupsPolicy:
      spec.security.supplementalGroupsPolicy === 'Strict'
        ? SupplementalGroupsPolicy.Strict
        : SupplementalGroupsPolicy.Merge,
  }
}

const propagations: Readonly<Record<ContainerMount['propagation'], MountPropagation>> = {
  None: MountPropagation.PROPAGATION_PRIVATE,
  HostToContainer: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
  Bidirectional: MountPropagation.PROPAGATION_BIDIRECTIONAL,
}

function mountsOf(spec: PodSpec, container: ContainerSpec, facts: ContainerFacts): DeepPartial<Mount>[] {
  const { paths, attempt } = facts
  const { uid } = spec.pod
  const mounts: DeepPartial<Mount>[] = facts.mounts.map(({ source, ...mount }) => ({
    containerPath: absolute(mount.path, container.workingDir),
    ...('image' in source
      ? { image: { image: source.image }, imageSubPath: source.subPath }
      : { hostPath: source.hostPath }),
    readonly: mount.readOnly,
    ...(mount.recursiveReadOnly ? { recursiveReadOnly: true } : {}),
    propagation: propagations[mount.propagation],
  }))
  const isTaken = (path: string): boolean => mounts.some((mount) => mount.containerPath === path)
  if (facts.hasHostsFile && !isTaken('/etc/hosts'))
    mounts.push({ containerPath: '/etc/hosts', hostPath: hostsFile(paths, uid) })
  if (!isTaken(container.terminationMessagePath))
    mounts.push({
      containerPath: container.terminationMessagePath,
      hostPath: terminationLog(paths, uid, container.name, attempt),
    })
  return mounts
}

const absolute = (path: string, workingDir: string | undefined): string =>
  path.startsWith('/') ? path : `${(workingDir ?? '/').replace(/\/$/, '')}/${path}`

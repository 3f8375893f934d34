// securityContext of a pod and of a container.

import type { FieldReader } from './read-fields.js'
import { refusedContainerSecurity, refusedPodSecurity } from './refused.js'
import type { ContainerSecurity, PodSecurity, SeccompProfile, SeLinuxOptions, UserSettings } from './spec.js'

/** The kernel's ids end at 2^32 - 2; Kubernetes keeps to the positive half. */
const ids = { min: 0, max: 2 ** 31 - 1 }

const noUser: UserSettings = {
  runAsUser: undefined,
  runAsGroup: undefined,
  runAsNonRoot: undefined,
  seccomp: undefined,
  appArmor: undefined,
  seLinux: undefined,
}

const defaultPodSecurity: PodSecurity = {
  ...noUser,
  supplementalGroups: [],
  supplementalGroupsPolicy: 'Merge',
  fsGroup: undefined,
  fsGroupChangePolicy: 'Always',
  sysctls: new Map(),
}

const defaultContainerSecurity: ContainerSecurity = {
  ...noUser,
  privileged: false,
  addCapabilities: [],
  dropCapabilities: [],
  readOnlyRootFilesystem: false,
  allowPrivilegeEscalation: undefined,
}

export function readPodSecurity(spec: FieldReader): PodSecurity {
  const given = spec.object('securityContext')
  if (given === undefined) return defaultPodSecurity
  given.refuse(refusedPodSecurity)
  // The runtime relabels files by itself; volumes are never mounted with a label here.
  given.ignore(['seLinuxChangePolicy'])
  const security: PodSecurity = {
    ...readUser(given),
    supplementalGroups: given.wholes('supplementalGroups', ids),
    supplementalGroupsPolicy: given.choice('supplementalGroupsPolicy', ['Merge', 'Strict']) ?? 'Merge',
    fsGroup: given.whole('fsGroup', ids),
    fsGroupChangePolicy: given.choice('fsGroupChangePolicy', ['Always', 'OnRootMismatch']) ?? 'Always',
    sysctls: readSysctls(given),
  }
  given.close()
  return security
}

/** Which of them a pod may set is decided when it is admitted: that is the node's configuration. */
function readSysctls(given: FieldReader): ReadonlyMap<string, string> {
  const sysctls = new Map<string, string>()
  for (const entry of given.objects('sysctls')) {
    const name = entry.text('name', { required: true, maxLength: 253 })?.replaceAll('/', '.')
    const value = entry.text('value', { required: true, maxLength: 1024 })
    entry.close()
    if (name === undefined || value === undefined) continue
    if (sysctls.has(name)) entry.problem('name', `${name} is there twice`, 'keep one')
    else sysctls.set(name, value)
  }
  return sysctls
}

export function readContainerSecurity(container: FieldReader): ContainerSecurity {
  const given = container.object('securityContext')
  if (given === undefined) return defaultContainerSecurity
  given.refuse(refusedContainerSecurity)
  const privileged = given.flag('privileged') ?? false
  const escalation = given.flag('allowPrivilegeEscalation')
  if (given.choice('procMount', ['Default', 'Unmasked']) === 'Unmasked')
    given.problem('procMount', 'Unmasked is not supported', 'remove it')
  const capabilities = given.object('capabilities')
  const addCapabilities = readCapabilities(capabilities, 'add')
  const dropCapabilities = readCapabilities(capabilities, 'drop')
  capabilities?.close()
  const gainsAdmin = addCapabilities.some((name) => name === 'SYS_ADMIN' || name === 'ALL')
  if (escalation === false && (privileged || gainsAdmin))
    given.problem(
      'allowPrivilegeEscalation',
      'is false beside privileged or SYS_ADMIN, which escalate anyway',
      'remove one of the two',
    )
  const security: ContainerSecurity = {
    ...readUser(given),
    privileged,
    addCapabilities,
    dropCapabilities,
    readOnlyRootFilesystem: given.flag('readOnlyRootFilesystem') ?? false,
    allowPrivilegeEscalation: escalation,
  }
  given.close()
  return security
}

function readCapabilities(given: FieldReader | undefined, key: 'add' | 'drop'): readonly string[] {
  return (given?.texts(key) ?? []).flatMap((word, i) => {
    if (!/^[A-Za-z_]{1,64}$/.test(word)) {
      given?.problem(`${key}[${i}]`, 'is not the name of a capability', 'write for example NET_ADMIN')
      return []
    }
    // Runtimes put the prefix on themselves; with it the name would be unknown to them.
    return [word.toUpperCase().replace(/^CAP_/, '')]
  })
}

const readUser = (given: FieldReader): UserSettings => ({
  runAsUser: given.whole('runAsUser', ids),
  runAsGroup: given.whole('runAsGroup', ids),
  runAsNonRoot: given.flag('runAsNonRoot'),
  seccomp: readProfile(given, 'seccompProfile'),
  appArmor: readProfile(given, 'appArmorProfile'),
  seLinux: readSeLinux(given),
})

function readSeLinux(given: FieldReader): SeLinuxOptions | undefined {
  const options = given.object('seLinuxOptions')
  if (options === undefined) return undefined
  const part = (key: string): string => options.text(key, { maxLength: 256 }) ?? ''
  const read = { user: part('user'), role: part('role'), type: part('type'), level: part('level') }
  options.close()
  return read
}

function readProfile(given: FieldReader, key: string): SeccompProfile | undefined {
  const profile = given.object(key)
  if (profile === undefined) return undefined
  const type = profile.choice('type', ['RuntimeDefault', 'Unconfined', 'Localhost'])
  const localhostProfile = profile.text('localhostProfile', { maxLength: 4096 })
  profile.close()
  if (type === undefined) profile.problem('type', 'is missing', 'use RuntimeDefault, Unconfined or Localhost')
  if (type !== 'Localhost') {
    if (localhostProfile !== undefined)
      profile.problem('localhostProfile', 'is given beside another type', 'set type: Localhost')
    return type === undefined ? undefined : { type }
  }
  if (localhostProfile === undefined || localhostProfile.split('/').includes('..')) {
    profile.problem('localhostProfile', 'is missing or leads outside', 'name a profile of this node')
    return undefined
  }
  return { type, localhostProfile }
}

/** A container's own setting wins over the pod's. */
export const effectiveUser = (pod: UserSettings, container: UserSettings): UserSettings => ({
  runAsUser: container.runAsUser ?? pod.runAsUser,
  runAsGroup: container.runAsGroup ?? pod.runAsGroup,
  runAsNonRoot: container.runAsNonRoot ?? pod.runAsNonRoot,
  seccomp: container.seccomp ?? pod.seccomp,
  appArmor: container.appArmor ?? pod.appArmor,
  seLinux: container.seLinux ?? pod.seLinux,
})

// Which namespaces of the host or the pod a sandbox and its containers use, and their seccomp and AppArmor profiles.
import type { PodSpec, SeccompProfile } from '../../../core/pod/spec/spec.js'
import {
  type DeepPartial,
  NamespaceMode,
  type NamespaceOption,
  SecurityProfile_ProfileType as ProfileType,
  type SecurityProfile,
} from '../../../cri-api/api.js'

export const namespaceOptions = (spec: PodSpec): DeepPartial<NamespaceOption> => ({
  network: spec.hostNetwork ? NamespaceMode.NODE : NamespaceMode.POD,
  ipc: spec.hostIPC ? NamespaceMode.NODE : NamespaceMode.POD,
  pid: spec.hostPID
    ? NamespaceMode.NODE
    : spec.shareProcessNamespace
      ? NamespaceMode.POD
      : NamespaceMode.CONTAINER,
})

/** `targetId`: the container whose processes are seen, where each container has its own. */
export const containerNamespaces = (
  spec: PodSpec,
  targetId: string | undefined,
): DeepPartial<NamespaceOption> => {
  const options = namespaceOptions(spec)
  return targetId === undefined || options.pid !== NamespaceMode.CONTAINER
    ? options
    : { ...options, pid: NamespaceMode.TARGET, targetId }
}

const profileTypes = {
  RuntimeDefault: ProfileType.RuntimeDefault,
  Unconfined: ProfileType.Unconfined,
  Localhost: ProfileType.Localhost,
} as const

/**
 * Local seccomp profiles are files below the root directory, as the kubelet keeps them. A privileged container is told the
 * same as any other: runtimes leave it unconfined whatever they are told.
 */
export const seccompProfile = (
  profile: SeccompProfile | undefined,
  { rootDir, seccompDefault }: { readonly rootDir: string; readonly seccompDefault: boolean },
): DeepPartial<SecurityProfile> =>
  profile === undefined
    ? { profileType: seccompDefault ? ProfileType.RuntimeDefault : ProfileType.Unconfined }
    : profile.type === 'Localhost'
      ? { profileType: ProfileType.Localhost, localhostRef: `${rootDir}/seccomp/${profile.localhostProfile}` }
      : { profileType: profileTypes[profile.type] }

/** Undefined leaves it to the runtime, which is what a pod without the field asks for. */
export const appArmorProfile = (
  profile: SeccompProfile | undefined,
): DeepPartial<SecurityProfile> | undefined =>
  profile === undefined
    ? undefined
    : {
        profileType: profileTypes[profile.type],
        localhostRef: profile.type === 'Localhost' ? profile.localhostProfile : '',
      }

export const runtimeDefault: DeepPartial<SecurityProfile> = { profileType: ProfileType.RuntimeDefault }

// AppArmor profiles on a kernel without AppArmor: a container that counts on one must not run without it.
import { allContainerSpecs, type PodSpec } from '../../../core/pod/spec/spec.js'

/** Undefined: every profile that the pod asks for can be enforced here. */
export function appArmorProblem(pod: PodSpec, isEnabled: boolean): string | undefined {
  if (isEnabled) return undefined
  const profiles = [pod.security, ...allContainerSpecs(pod).map((c) => c.security)].map((s) => s.appArmor)
  return profiles.every((profile) => profile === undefined || profile.type === 'Unconfined')
    ? undefined
    : 'Cannot enforce AppArmor: AppArmor is not enabled on the host'
}

// What `kubelet --version` prints. kubeadm and the suites of Kubernetes read the upstream form and compare releases by it.
import type { ReleaseRules } from './rules.js'

/** `{ minor: 37, patch: 1 }` of the profile upstream -> `Kubernetes v1.37.1`. They want all three numbers. */
export const formatKubeletVersion = (
  { profile, version }: Pick<ReleaseRules, 'profile' | 'version'>,
  keelson: string,
): string =>
  profile === 'upstream' ? `Kubernetes v1.${version.minor}.${version.patch ?? 0}` : `keelson ${keelson}`

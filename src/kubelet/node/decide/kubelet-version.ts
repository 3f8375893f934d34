// nodeInfo.kubeletVersion: the release whose rules apply, so that controllers and `kubectl get nodes` see a kubelet of that
// release, and behind the plus what really runs.
import type { KubernetesVersion } from '../../../core/release/version.js'

/** The patch releases that the behaviour was compared with. */
const comparedPatch: Readonly<Record<number, number>> = { 35: 0, 36: 3, 37: 1 }

/** (1.37, '0.1.0') -> `v1.37.1+keelson.0.1.0` */
export const kubeletVersion = ({ minor, patch }: KubernetesVersion, own: string): string =>
  `v1.${minor}.${patch ?? comparedPatch[minor] ?? 0}+keelson.${own}`

// Shared with preflight: kubeadm supports kubelets of the same minor down to three minors older.
import type { KubernetesVersion } from '../../core/release/version.js'
import type { HostFacts } from '../../ports/bootstrap.js'
import { type Check, error, ok, skipped } from '../check.js'

interface Facts {
  readonly version: KubernetesVersion
  readonly host: Pick<HostFacts, 'kubeletVersion'>
}

export const kubeletSkew: Check<Facts> = {
  name: 'kubelet-skew',
  asks: 'Is the kubelet version supported with this release?',
  run({ host, version }) {
    const minor = Number(/^v?1\.(\d+)/.exec(host.kubeletVersion ?? '')?.[1] ?? Number.NaN)
    if (Number.isNaN(minor)) return skipped('no kubelet is installed')
    const remedy = `install a kubelet from 1.${Math.max(version.minor - 3, 0)} to 1.${version.minor}`
    const evidence = [`kubelet --version: ${host.kubeletVersion ?? ''}`]
    if (minor > version.minor)
      return error(`kubelet 1.${minor} is newer than 1.${version.minor}`, remedy, evidence)
    if (minor < version.minor - 3)
      return error(
        `kubelet 1.${minor} is more than three minors older than 1.${version.minor}`,
        remedy,
        evidence,
      )
    return ok(...evidence)
  },
}

// Shared with preflight: from 1.35 on the kubelet refuses cgroup v1 unless failCgroupV1 is false.
import type { KubernetesVersion } from '../../core/release/version.js'
import type { HostFacts } from '../../ports/bootstrap.js'
import { type Check, error, ok, skipped, warn } from '../check.js'

interface Facts {
  readonly version: KubernetesVersion
  readonly host: Pick<HostFacts, 'os' | 'cgroupV2'>
}

const firstStrictMinor = 35

export const cgroupV2: Check<Facts> = {
  name: 'cgroup-v2',
  asks: 'Does this node use cgroup v2?',
  run({ host, version }) {
    if (host.os !== 'linux' || host.cgroupV2 === undefined) return skipped('unknown on this system')
    if (host.cgroupV2) return ok('/sys/fs/cgroup/cgroup.controllers exists')
    const say = version.minor >= firstStrictMinor ? error : warn
    return say('this node uses cgroup v1', 'boot with systemd.unified_cgroup_hierarchy=1', [
      'no /sys/fs/cgroup/cgroup.controllers',
    ])
  },
}

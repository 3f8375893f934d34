// KEP-4033 with real containerd 1.6, which has no RuntimeConfig, under both drivers on cgroup v2.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/kubelet-driver.ts', import.meta.url)

await labChecks(
  'kubelet in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 300 },
  checks,
)

await labChecks(
  'kubelet in UML with systemd, SystemdCgroup = true',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd' },
    timeoutS: 300,
  },
  checks,
)

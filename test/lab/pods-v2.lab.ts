// The kubelet runs pods on a kernel with cgroup v2, under both drivers, beside real containerd 1.6.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/pods.ts', import.meta.url)

await labChecks(
  'pods in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 600 },
  checks,
)

await labChecks(
  'pods in UML with systemd, SystemdCgroup = true',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd' },
    timeoutS: 600,
  },
  checks,
)

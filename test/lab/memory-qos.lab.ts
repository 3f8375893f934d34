// KEP-2570 on real kernels beside real containerd, under both cgroup drivers.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos.ts', import.meta.url)

await labChecks(
  'memory QoS in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 400 },
  checks,
)

await labChecks(
  'memory QoS in UML, systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd' },
    timeoutS: 500,
  },
  checks,
)

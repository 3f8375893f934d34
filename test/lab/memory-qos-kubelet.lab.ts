// Memory QoS of the real `keelson kubelet` and its static pods, under both drivers.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos-kubelet.ts', import.meta.url)

await labChecks(
  'keelson kubelet with Memory QoS in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 700 },
  checks,
)

await labChecks(
  'keelson kubelet with Memory QoS in UML, systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd' },
    timeoutS: 800,
  },
  checks,
)

// A reconcile pass that is killed at 50 random points: 25 under each driver.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos-kill.ts', import.meta.url)

await labChecks(
  'a killed pass in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 900 },
  checks,
)

await labChecks(
  'a killed pass in UML, systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd' },
    timeoutS: 1000,
  },
  checks,
)

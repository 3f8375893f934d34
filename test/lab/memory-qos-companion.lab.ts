// The companion beside an independent pod runner, under both drivers.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos-companion.ts', import.meta.url)

await labChecks(
  'companion in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 900 },
  checks,
)

await labChecks(
  'companion in UML, systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd' },
    timeoutS: 900,
  },
  checks,
)

// The companion and its rollback, killed at any point, under both drivers.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/companion-kill.ts', import.meta.url)

await labChecks(
  'a killed companion in UML, cgroupfs',
  { place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' }, timeoutS: 1450 },
  checks,
)

await labChecks(
  'a killed companion in UML, systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    // The same code below the tree; fewer, because a start takes longer here.
    env: { LAB_DRIVER: 'systemd', LAB_KILLS: '15' },
    timeoutS: 1450,
  },
  checks,
)

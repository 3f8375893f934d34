// The companion and its rollback, killed at 50 random points each: 25 under each driver.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/companion-kill.ts', import.meta.url)

await labChecks(
  'a killed companion in UML, cgroupfs',
  {
    place: 'uml',
    containerd: { systemdCgroup: false },
    env: { LAB_DRIVER: 'cgroupfs', LAB_KILLS: '25' },
    timeoutS: 1400,
  },
  checks,
)

await labChecks(
  'a killed companion in UML, systemd',
  {
    place: 'uml-systemd',
    containerd: { systemdCgroup: true },
    env: { LAB_DRIVER: 'systemd', LAB_KILLS: '25' },
    timeoutS: 1400,
  },
  checks,
)

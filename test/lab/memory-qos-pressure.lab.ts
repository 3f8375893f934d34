// Throttling and protection under real pressure, in a small machine with a disk and swap.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos-pressure.ts', import.meta.url)
const machine = { memoryMiB: 1024, disksMiB: [1024, 768], timeoutS: 700 }

await labChecks(
  'memory pressure in UML, cgroupfs',
  { ...machine, place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' } },
  checks,
)

await labChecks(
  'memory pressure in UML, systemd',
  { ...machine, place: 'uml-systemd', containerd: { systemdCgroup: true }, env: { LAB_DRIVER: 'systemd' } },
  checks,
)

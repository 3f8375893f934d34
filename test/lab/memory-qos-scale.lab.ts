// 110 real pods on one small machine: what a pass without a change does and costs, under both drivers.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos-scale.ts', import.meta.url)
const machine = { memoryMiB: 4096, timeoutS: 1200 }

await labChecks(
  'Memory QoS with 110 pods in UML, cgroupfs',
  { ...machine, place: 'uml', containerd: { systemdCgroup: false }, env: { LAB_DRIVER: 'cgroupfs' } },
  checks,
)

await labChecks(
  'Memory QoS with 110 pods in UML, systemd',
  { ...machine, place: 'uml-systemd', containerd: { systemdCgroup: true }, env: { LAB_DRIVER: 'systemd' } },
  checks,
)

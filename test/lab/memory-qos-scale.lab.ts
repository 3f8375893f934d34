// 110 real pods on one small machine: what a pass without a change does and costs.
import { labChecks } from '../support/lab-checks.js'

await labChecks(
  'Memory QoS with 110 pods in UML',
  {
    place: 'uml',
    memoryMiB: 4096,
    containerd: { systemdCgroup: false },
    env: { LAB_DRIVER: 'cgroupfs' },
    timeoutS: 1200,
  },
  new URL('./inside/memory-qos-scale.ts', import.meta.url),
)

// Memory QoS on a full kernel: huge page limits of others and pressure, under both drivers.
import { labChecks } from '../support/lab-checks.js'

const checks = new URL('./inside/memory-qos-foreign.ts', import.meta.url)

for (const driver of ['systemd', 'cgroupfs'] as const)
  await labChecks(
    `values of others in QEMU, ${driver}`,
    {
      place: 'qemu',
      containerd: { systemdCgroup: driver === 'systemd' },
      env: { LAB_DRIVER: driver },
      timeoutS: 700,
    },
    checks,
  )

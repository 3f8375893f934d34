// The same least for the QEMU machine, which is too slow for the quick tier.
import { labChecks } from '../support/lab-checks.js'

await labChecks(
  'lab: QEMU',
  { place: 'qemu', disksMiB: [16, 32], timeoutS: 240 },
  new URL('./inside/smoke.ts', import.meta.url),
)

// Pressure, hugetlb and cpuset files of a real container: only the QEMU machine's kernel has them all.
import { labChecks } from '../support/lab-checks.js'

await labChecks(
  'a container in QEMU',
  { place: 'qemu', containerd: {}, timeoutS: 480 },
  new URL('./inside/psi.ts', import.meta.url),
)

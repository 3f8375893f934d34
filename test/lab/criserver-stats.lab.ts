// Stats and metrics of the CRI server in front of real containerd 1.6: on cgroup v2 in a UML machine, and on this machine as it is.
import { labChecks } from '../support/lab-checks.js'
import { hostHasCgroupV2 } from '../support/requirements.js'

const inside = new URL('./inside/criserver-stats.ts', import.meta.url)

await labChecks(
  'CRI server: values in UML, cgroup v2',
  { place: 'uml', containerd: {}, timeoutS: 300 },
  inside,
)
await labChecks(
  `CRI server: values on the host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`,
  { place: 'host', containerd: {}, timeoutS: 300 },
  inside,
)

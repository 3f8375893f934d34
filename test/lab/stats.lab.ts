// The same real pods through both sources, with containerd 1.6: on cgroup v2 in a UML machine, and on this machine itself.
import { labChecks } from '../support/lab-checks.js'
import { hostHasCgroupV2 } from '../support/requirements.js'

const inside = new URL('./inside/stats.ts', import.meta.url)

await labChecks(
  'stats of real pods in UML, cgroup v2',
  { place: 'uml', containerd: {}, timeoutS: 300 },
  inside,
)
await labChecks(
  `stats of real pods on the host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`,
  { place: 'host', containerd: {}, timeoutS: 300 },
  inside,
)

// The whole life of a pod over our CRI client against real containerd 1.6: on cgroup v2 in a UML machine, and on this
// machine itself, where cgroup v1 refuses what v2 takes.
import { labChecks } from '../support/lab-checks.js'
import { hostHasCgroupV2 } from '../support/requirements.js'

const v2 = new URL('./inside/cri-v2.ts', import.meta.url)
const v1 = new URL('./inside/cri-v1.ts', import.meta.url)

await labChecks('containerd in UML, cgroupfs driver', { place: 'uml', containerd: {}, timeoutS: 240 }, v2)
await labChecks(
  `containerd on the host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`,
  { place: 'host', containerd: {}, timeoutS: 240 },
  hostHasCgroupV2() ? v2 : v1,
)

// The Prometheus endpoint of the CRI server, and the kubelet that finds it, in front of real containerd 1.6.
import { labChecks } from '../support/lab-checks.js'
import { hostHasCgroupV2 } from '../support/requirements.js'

const inside = new URL('./inside/criserver-endpoint.ts', import.meta.url)

await labChecks(
  'CRI server: endpoint in UML, cgroup v2',
  { place: 'uml', containerd: {}, timeoutS: 300 },
  inside,
)
await labChecks(
  `CRI server: endpoint on the host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`,
  { place: 'host', containerd: {}, timeoutS: 300 },
  inside,
)

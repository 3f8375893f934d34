// Container events in front of real containerd 1.6 on this machine. KEELSON_EVENT_CONTAINERS sets how many containers.
import { labChecks } from '../support/lab-checks.js'
import { hostHasCgroupV2 } from '../support/requirements.js'

await labChecks(
  `container events on the host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`,
  { place: 'host', containerd: {}, timeoutS: 900 },
  new URL('./inside/criserver-events.ts', import.meta.url),
)

// KEP-2371: the series of /metrics/cadvisor beside real cAdvisor, on the same real pods, on cgroup v1 and v2.
import { hostHasCgroupV2 } from '../../test/support/requirements.js'
import { runInPlace } from '../in-place.js'
import type { Unit } from '../unit.js'

const inside = new URL('../cadvisor/inside.ts', import.meta.url)

export const cadvisor: Unit = {
  name: 'cadvisor',
  summary: 'every series that cAdvisor and Keelson both have, on the same real pods (KEP-2371)',
  peers: ['cadvisor'],
  async run(context) {
    const common = { inside, peers: ['cadvisor'], timeoutS: 400 } as const
    await runInPlace(context, {
      ...common,
      name: `host, cgroup ${hostHasCgroupV2() ? 'v2' : 'v1'}`,
      place: 'host',
    })
    await runInPlace(context, { ...common, name: 'UML, cgroup v2', place: 'uml' })
  },
}

// KEP-2371: stats from the runtime are only as good as the runtime. Known wrong values, and who corrects them.
import { isGateEnabled } from '../../core/release/gates.js'
import { wrongValuesOf } from '../../stats/repair/defects.js'
import { type Check, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const runtimeValues: Check<DoctorFacts> = {
  name: 'runtime-values',
  asks: 'Are the values that the runtime reports right?',
  run({ runtime, runtimeFacts, kubelet }) {
    if (runtime === undefined || runtimeFacts === undefined) return skipped('no runtime responded')
    const who = `${runtime.name} ${runtime.version}`
    const wrong = wrongValuesOf({ name: runtime.name.toLowerCase(), version: runtime.version })
    if (wrong.length === 0) return ok(`no known wrong values of ${who}`)
    const evidence = wrong.map((d) => d.name)
    const { criServer } = runtimeFacts
    if (criServer !== undefined && criServer.values !== 'trust') {
      const counts = Object.entries(criServer.repaired).map(([reason, n]) => `${reason}: ${n} repaired`)
      return ok(`keelson cri repairs the ${wrong.length} known wrong values of ${who}`, ...counts)
    }
    const message = `${who} is known to report ${wrong.length} wrong values`
    if (criServer?.values === 'trust')
      return warn(
        `${message}, and keelson cri passes them on`,
        'start keelson cri with --values repair',
        evidence,
      )
    if (isGateEnabled(kubelet.loaded.config.gates, 'PodAndContainerStatsFromCRI'))
      return warn(
        `${message}, which a kubelet with PodAndContainerStatsFromCRI serves`,
        'put keelson cri in front of the runtime, or run keelson kubelet, which repairs them itself',
        evidence,
      )
    return info(`${message}; PodAndContainerStatsFromCRI is off, so the kubelet reads cgroups`, evidence)
  },
}

// KEP-2371: can this runtime feed /metrics/cadvisor by itself?
import { isGateEnabled } from '../../core/release/gates.js'
import { requiredMetrics } from '../../stats/catalogue/required.js'
import { type Check, firstOf, info, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

/** What a kernel may lack; the rest is the runtime's business. */
const kernelDependent = /^container_(pressure_|hugetlb_|memory_swap|blkio_|fs_|cpu_cfs_)/

export const metrics: Check<DoctorFacts> = {
  name: 'metrics',
  asks: 'Does the runtime provide the metrics that the kubelet serves?',
  run({ runtime, runtimeFacts, kubelet }) {
    if (runtime === undefined || runtimeFacts === undefined) return skipped('no runtime responded')
    const { descriptors } = runtimeFacts
    const who = `${runtime.name} ${runtime.version}`
    const wanted = isGateEnabled(kubelet.loaded.config.gates, 'PodAndContainerStatsFromCRI')
    const say = (message: string, evidence: readonly string[]) =>
      wanted
        ? warn(
            message,
            'upgrade the runtime, or put keelson cri in front of it; until then the kubelet reads cgroups',
            evidence,
          )
        : info(`${message}; PodAndContainerStatsFromCRI is off, so the kubelet reads cgroups`, evidence)
    if (descriptors.kind === 'failed') return say(`${who} failed to list its metrics`, [descriptors.reason])
    if (descriptors.kind === 'unimplemented')
      return say(`${who} does not implement CRI metrics`, ['ListMetricDescriptors: UNIMPLEMENTED'])
    const missing = requiredMetrics.filter((name) => !descriptors.names.includes(name))
    const evidence = [
      `${descriptors.names.length} metrics, ${requiredMetrics.length - missing.length} of ${requiredMetrics.length} required ones`,
    ]
    if (missing.length === 0) return ok(...evidence)
    const lost = missing.filter((name) => !kernelDependent.test(name))
    if (lost.length === 0)
      return info('missing metrics that depend on the kernel', [...evidence, ...firstOf(missing)])
    return say(`${who} lacks ${lost.length} required metrics`, [...evidence, ...firstOf(lost)])
  },
}

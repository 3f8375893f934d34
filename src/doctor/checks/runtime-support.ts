// KEP-4033: from one release on the kubelet refuses a runtime that does not answer RuntimeConfig.
import { oldestAnsweringRuntimes } from '../../core/driver/decide-driver.js'
import { fallbackRemovedIn } from '../../core/release/gate-table.js'
import { type Check, error, ok, skipped, warn } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const runtimeSupport: Check<DoctorFacts> = {
  name: 'runtime-support',
  asks: 'Do the next Kubernetes releases support this runtime?',
  run({ runtime, version, kubelet }) {
    if (runtime === undefined) return skipped('no runtime responded')
    const who = `${runtime.name} ${runtime.version}`
    if (runtime.runtimeConfig === 'failed') return skipped(`${who} did not respond to RuntimeConfig in time`)
    if (runtime.runtimeConfig === 'known') return ok(`${who} implements RuntimeConfig`)
    const { profile } = kubelet.loaded.config
    const removed = fallbackRemovedIn[profile]
    const remedy = `upgrade to ${oldestAnsweringRuntimes} or later, or put keelson cri in front of it, before you upgrade the kubelet to 1.${removed}`
    const evidence = ['RuntimeConfig: UNIMPLEMENTED', `profile ${profile}: fallback removed in 1.${removed}`]
    return version.minor >= removed
      ? error(`Kubernetes 1.${version.minor} refuses to start with ${who}`, remedy, evidence)
      : warn(`${who} loses support with Kubernetes 1.${removed}`, remedy, evidence)
  },
}

// The checks of preflight, in the order in which they are shown: the doctor's, and those that only a command that
// changes the node has to ask.
import { error, ok, skipped } from '../../doctor/check.js'
import { cgroupV2 } from '../../doctor/checks/cgroup-v2.js'
import { kernel } from '../../doctor/checks/kernel.js'
import { kubeletSkew } from '../../doctor/checks/kubelet-skew.js'
import { runtimeAnswers } from '../../doctor/checks/runtime-answers.js'
import { runtimeConfig } from '../../doctor/checks/runtime-config.js'
import { severalRuntimes } from '../../doctor/checks/several-runtimes.js'
import { staleEndpointFlag } from '../../doctor/checks/stale-endpoint-flag.js'
import type { PreflightCheck } from './check.js'

const privilegedUser: PreflightCheck = {
  name: 'privileged-user',
  asks: 'Can this process change the node?',
  run: ({ host, dryRun }) =>
    host.privileged === false && dryRun
      ? skipped('not needed: a dry run changes nothing')
      : host.privileged === false
        ? error('this user is not root', 'run the command as root, or with --rootfs')
        : ok(),
}

const exceptForReset = (check: PreflightCheck, why: string): PreflightCheck => ({
  ...check,
  run: (facts) => (facts.command === 'reset' ? skipped(why) : check.run(facts)),
})

export const preflightChecks: readonly PreflightCheck[] = [
  privilegedUser,
  exceptForReset(runtimeAnswers, 'reset works without a runtime'),
  runtimeConfig,
  severalRuntimes,
  staleEndpointFlag,
  exceptForReset(kubeletSkew, 'reset works with any kubelet'),
  kernel,
  cgroupV2,
]

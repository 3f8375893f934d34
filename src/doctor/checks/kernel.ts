// Shared with preflight: before 5.9 a task over memory.high could be put to sleep for very long (KEP-2570).
import { isKernelAtLeast, parseKernelVersion } from '../../core/release/kernel-check.js'
import type { HostFacts } from '../../ports/bootstrap.js'
import { type Check, ok, skipped, warn } from '../check.js'

export const kernel: Check<{ readonly host: Pick<HostFacts, 'os' | 'kernelRelease'> }> = {
  name: 'kernel',
  asks: 'Is this kernel new enough?',
  run({ host }) {
    const version = parseKernelVersion(host.kernelRelease ?? '')
    if (host.os !== 'linux' || version === undefined) return skipped('the kernel version is unknown')
    const evidence = `kernel ${host.kernelRelease ?? ''}`
    return isKernelAtLeast(version, 5, 9)
      ? ok(evidence)
      : warn(
          `kernel ${host.kernelRelease} is older than 5.9`,
          'upgrade the kernel before you use Memory QoS',
          [evidence],
        )
  },
}

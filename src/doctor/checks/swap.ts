// Swap and the kubelet's two settings about it.
import { type Check, error, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'

export const swap: Check<DoctorFacts> = {
  name: 'swap',
  asks: "Does the node's swap agree with the kubelet's settings?",
  run({ machine, kubelet }) {
    if (machine === undefined) return skipped('/proc could not be read')
    if (machine.swapBytes === 0n) return ok('SwapTotal: 0')
    const { failSwapOn, memorySwap } = kubelet.loaded.config.kubelet
    const evidence = [
      `SwapTotal: ${formatAmount(machine.swapBytes)}`,
      `failSwapOn: ${failSwapOn}`,
      `memorySwap.swapBehavior: ${memorySwap.swapBehavior}`,
    ]
    if (failSwapOn && kubelet.source !== undefined)
      return error(
        'swap is on and failSwapOn is true: a kubelet does not start here',
        'run swapoff -a and take swap out of /etc/fstab, or set failSwapOn: false',
        evidence,
      )
    return info(
      memorySwap.swapBehavior === 'LimitedSwap'
        ? 'Burstable pods may swap; memory.high then pushes pages out instead of stalling'
        : 'swap is on, but pods do not use it (NoSwap)',
      evidence,
    )
  },
}

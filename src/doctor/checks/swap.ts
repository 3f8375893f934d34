// Swap and the kubelet's two settings about it.
import { type Check, error, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'
import { formatAmount } from '../format.js'

export const swap: Check<DoctorFacts> = {
  name: 'swap',
  asks: 'Does the swap of the node match the kubelet configuration?',
  run({ machine, kubelet }) {
    if (machine === undefined) return skipped('/proc is not readable')
    if (machine.swapBytes === 0n) return ok('SwapTotal: 0')
    const { failSwapOn, memorySwap } = kubelet.loaded.config.kubelet
    const evidence = [
      `SwapTotal: ${formatAmount(machine.swapBytes)}`,
      `failSwapOn: ${failSwapOn}`,
      `memorySwap.swapBehavior: ${memorySwap.swapBehavior}`,
    ]
    if (failSwapOn && kubelet.source !== undefined)
      return error(
        'swap is on and failSwapOn is true: the kubelet does not start',
        'run swapoff -a and remove swap from /etc/fstab, or set failSwapOn: false',
        evidence,
      )
    return info(
      memorySwap.swapBehavior === 'LimitedSwap'
        ? 'Burstable pods may swap; at memory.high the kernel swaps pages out instead of stalling'
        : 'swap is on, but pods do not use it (NoSwap)',
      evidence,
    )
  },
}

// Pressure stall information: the KEP's way to see throttling. Without it two of three signs are left.
import { type Check, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const psi: Check<DoctorFacts> = {
  name: 'psi',
  asks: 'Does the kernel measure memory pressure?',
  run({ machine }) {
    if (machine === undefined) return skipped('/proc could not be read')
    return machine.psi
      ? ok('/proc/pressure/memory is there')
      : info(
          'this kernel gives no pressure values; throttling is judged by memory.events and CPU time alone',
          ['no /proc/pressure/memory'],
          'boot with psi=1, or use a kernel with CONFIG_PSI',
        )
  },
}

// Pressure stall information: the KEP's way to see throttling. Without it two of three signs are left.
import { type Check, info, ok, skipped } from '../check.js'
import type { DoctorFacts } from '../facts.js'

export const psi: Check<DoctorFacts> = {
  name: 'psi',
  asks: 'Does the kernel report memory pressure (PSI)?',
  run({ machine }) {
    if (machine === undefined) return skipped('/proc is not readable')
    return machine.psi
      ? ok('/proc/pressure/memory exists')
      : info(
          'this kernel does not report pressure (PSI); the doctor detects throttling from memory.events and CPU time only',
          ['no /proc/pressure/memory'],
          'boot with psi=1, or use a kernel with CONFIG_PSI',
        )
  },
}

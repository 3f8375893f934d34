// Kinds `quantity`, `kernel` and `cpu`: one call each.

import { isKeelsonError } from '../../../../src/core/errors.js'
import { checkKernel } from '../../../../src/core/release/kernel-check.js'
import {
  linearWeight,
  logQuadraticWeight,
  quotaOfMilliCpu,
  sharesOfLinearWeight,
  sharesOfMilliCpu,
} from '../../../../src/core/units/cpu.js'
import { parseQuantity, quantityMilliValue, quantityValue } from '../../../../src/core/units/quantity.js'
import { type Fields, textAt } from '../../types.js'

export function runQuantity(input: Fields): Fields {
  try {
    const quantity = parseQuantity(textAt(input, 'quantity'))
    return {
      valid: true,
      value: `${quantityValue(quantity)}`,
      milliValue: `${quantityMilliValue(quantity)}`,
    }
  } catch (e) {
    if (isKeelsonError(e) && e.code === 'quantity.invalid') return { valid: false }
    throw e
  }
}

export function runKernel(input: Fields): Fields {
  const osrelease = input['osrelease']
  const { kind } = checkKernel({
    osrelease: typeof osrelease === 'string' ? osrelease : undefined,
    gate: input['gate'] === true,
    cgroupVersion: input['cgroupVersion'] === 1 ? 1 : 2,
  })
  // The check has no outcome that would end a start.
  return { livelockWarning: kind === 'livelock-risk', parseError: kind === 'unreadable', startupFails: false }
}

export function runCpu(input: Fields): Fields {
  const milliCpu = BigInt(Number(input['milliCPU']))
  const shares = sharesOfMilliCpu(milliCpu)
  const weight = linearWeight(shares)
  return {
    shares: Number(shares),
    podCgroupWeight: Number(weight),
    runtimeWeightNewFormula: Number(logQuadraticWeight(shares)),
    sharesReadBackFromPodWeight: Number(sharesOfLinearWeight(weight)),
    quotaUs: Number(quotaOfMilliCpu(milliCpu, BigInt(Number(input['periodUs'] ?? 100_000)))),
  }
}

// Quantities: what is accepted must survive printing and reading.
import {
  formatQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from '../../../src/core/units/quantity.js'
import { mutateText, type Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

const seeds = [
  '0',
  '1',
  '128Mi',
  '1.5Gi',
  '100m',
  '1e3',
  '1E-9',
  '8Ei',
  '.5',
  '1.',
  '-1',
  '+2k',
  '999999999999E',
] as const

export const quantity: FuzzTarget = {
  name: 'quantity',
  generate: (random: Random) => mutateText(random.pick(seeds), random),
  run(input) {
    const q = parseQuantity(String(input))
    check(parseQuantity(formatQuantity(q)).nanos === q.nanos, `${formatQuantity(q)} reads as another amount`)
    const value = quantityValue(q)
    const milli = quantityMilliValue(q)
    check(
      (value < 0n ? -value : value) * 1000n >= (milli < 0n ? -milli : milli),
      'the value is below the amount',
    )
  },
}

// Where our series differ from cAdvisor's on purpose or by nature. docs/conformance.md says why; a test keeps both lists
// the same.
import { labelOf } from '../../src/doctor/figures/read-text.js'
import type { Difference } from './compare.js'

interface Known {
  readonly name: string
  readonly is: (difference: Difference) => boolean
}

const named =
  (pattern: RegExp) =>
  ({ name }: Difference): boolean =>
    pattern.test(name)

/** The row of the pause container: an image, and no container. */
const isSandboxRow = ({ key }: Difference): boolean =>
  labelOf(key, 'container') === '' && labelOf(key, 'image') !== '' && labelOf(key, 'pod') !== ''

export const known: readonly Known[] = [
  { name: 'sandbox-rows', is: (d) => d.kind === 'cadvisor-only' && isSandboxRow(d) },
  { name: 'start-time', is: named(/^container_start_time_seconds$/) },
]

export const differenceNames = known.map((k) => k.name)

export const explain = (difference: Difference): string | undefined =>
  known.find((k) => k.is(difference))?.name

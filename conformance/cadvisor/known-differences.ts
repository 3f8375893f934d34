// Where our series differ from cAdvisor's on purpose or by nature. docs/conformance.md says why; a test keeps both lists
// the same.
import { labelOf } from '../../src/doctor/metrics/read-text.js'
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

const isNode = ({ key }: Difference): boolean => labelOf(key, 'id') === '/'

/** The row of a pod's own cgroup, in which no process stands. */
const isPodRow = ({ key }: Difference): boolean =>
  labelOf(key, 'image') === '' && /\/pod[^/]+$/.test(labelOf(key, 'id') ?? '')

export const known: readonly Known[] = [
  { name: 'sandbox-rows', is: (d) => d.kind === 'cadvisor-only' && isSandboxRow(d) },
  { name: 'start-time', is: named(/^container_(start|creation)_time_seconds$/) },
  {
    name: 'pod-rows',
    is: (d) =>
      d.kind === 'cadvisor-only' &&
      isPodRow(d) &&
      /^container_(file_descriptors|sockets|ulimits_soft|oom_events_total|blkio_device_usage_total|fs_\w+_total)$/.test(
        d.name,
      ),
  },
  {
    name: 'node-row',
    is: (d) =>
      d.kind === 'cadvisor-only' &&
      isNode(d) &&
      /^container_(file_descriptors|sockets|ulimits_soft|threads|threads_max|oom_events_total|spec_memory_reservation_limit_bytes|spec_cpu_(period|shares)|memory_events_(high|max)_total)$/.test(
        d.name,
      ),
  },
  {
    name: 'node-moves',
    is: (d) =>
      d.kind === 'value' && isNode(d) && /^container_(processes|memory_(?!failures)\w+)$/.test(d.name),
  },
  {
    name: 'pressure',
    is: (d) => /^container_pressure_/.test(d.name) && (d.kind === 'cadvisor-only' || isNode(d)),
  },
  {
    name: 'page-faults',
    is: (d) =>
      d.kind === 'value' &&
      d.name === 'container_memory_failures_total' &&
      labelOf(d.key, 'scope') === 'hierarchy' &&
      (isNode(d) || isPodRow(d)),
  },
]

export const differenceNames = known.map((k) => k.name)

export const explain = (difference: Difference): string | undefined =>
  known.find((k) => k.is(difference))?.name

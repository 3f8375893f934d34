// Fields of KubeletConfiguration with which a node protects itself: eviction, garbage collection, node shutdown.
import { parseGoDuration } from '../../core/units/go-duration.js'
import { fieldOf, type Read, read, refuse } from '../field.js'
import {
  duration,
  evictionMap,
  flag,
  int32,
  integer,
  mapOf,
  reclaimMap,
  signalRefusal,
} from '../field-kinds.js'
import type { Json } from '../node.js'
import { describeJson } from '../parse-yaml.js'

const unset = { zeroIsUnset: true } as const

/** Signal -> milliseconds. */
const gracePeriods = mapOf<number>('map of durations', (key, value) => {
  const refused = signalRefusal(key)
  if (refused !== undefined) return refused
  const nanos = typeof value === 'string' ? parseGoDuration(value) : undefined
  return nanos === undefined || nanos < 0n
    ? refuse(`${describeJson(value)} is not a duration of 0 or more`, 'use for example 30s or 1m30s')
    : read(Number(nanos) / 1e6)
})

interface PriorityGrace {
  readonly priority: number
  readonly shutdownGracePeriodSeconds: number
}

function readPriorityGrace(value: Json): Read<PriorityGrace> {
  const wrong = refuse(
    'is not an entry of priority and shutdownGracePeriodSeconds',
    'write both as whole numbers',
  )
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return wrong
  const { priority = 0, shutdownGracePeriodSeconds = 0 } = value as Readonly<Record<string, Json>>
  return Number.isSafeInteger(priority) &&
    typeof shutdownGracePeriodSeconds === 'number' &&
    Number.isSafeInteger(shutdownGracePeriodSeconds) &&
    shutdownGracePeriodSeconds >= 0
    ? read({ priority: Number(priority), shutdownGracePeriodSeconds })
    : wrong
}

const priorityGraces = fieldOf<readonly PriorityGrace[]>('list of priorities with grace periods', (v) => {
  if (!Array.isArray(v)) return refuse(`must be a list, not ${describeJson(v)}`, 'write a list of entries')
  const found = v.map(readPriorityGrace)
  const wrong = found.find((entry) => !entry.ok)
  return wrong ?? read(found.flatMap((entry) => (entry.ok ? [entry.value] : [])))
})

export const protectionFields = {
  evictionHard: evictionMap(
    'pods are evicted at once below these; memory.available lowers node allocatable',
    {
      default: {
        'imagefs.available': '15%',
        'imagefs.inodesFree': '5%',
        'memory.available': '100Mi',
        'nodefs.available': '10%',
        'nodefs.inodesFree': '5%',
      },
    },
  ),
  mergeDefaultEvictionSettings: flag('thresholds left out of evictionHard keep their defaults', {
    since: 33,
    default: false,
  }),
  evictionSoft: evictionMap('pods are evicted when available is below these for evictionSoftGracePeriod', {
    default: {},
  }),
  evictionSoftGracePeriod: gracePeriods(
    'how long a threshold of evictionSoft is exceeded before pods are evicted',
    {
      default: {},
    },
  ),
  evictionPressureTransitionPeriod: duration()(
    'how long the node keeps a pressure condition after the last sign of it',
    {
      ...unset,
      default: '5m0s',
    },
  ),
  evictionMaxPodGracePeriod: int32('most seconds that a pod gets when a soft threshold evicts it', {
    default: 0,
  }),
  evictionMinimumReclaim: reclaimMap(
    'amount above a threshold that must be free before it counts as resolved',
    {
      default: {},
    },
  ),
  localStorageCapacityIsolation: flag('measure and limit the ephemeral storage of pods', {
    since: 25,
    default: true,
  }),
  imageGCHighThresholdPercent: integer(0, 100)(
    'disk usage of the image file system from which unused images are removed; 100: never',
    { default: 85 },
  ),
  imageGCLowThresholdPercent: integer(0, 100)('disk usage down to which unused images are removed', {
    default: 80,
  }),
  imageMinimumGCAge: duration()('an unused image stays at least so long', { ...unset, default: '2m0s' }),
  imageMaximumGCAge: duration()('an image that was unused for so long is removed; 0s: never', {
    since: 29,
    default: '0s',
  }),
  shutdownGracePeriod: duration()(
    'a shutdown of the machine waits so long for pods to terminate; 0s: not at all',
    {
      default: '0s',
    },
  ),
  shutdownGracePeriodCriticalPods: duration()('part of shutdownGracePeriod that is kept for critical pods', {
    default: '0s',
  }),
  shutdownGracePeriodByPodPriority: priorityGraces('grace periods of a shutdown by priority of pods', {
    since: 23,
    default: [],
  }),
}

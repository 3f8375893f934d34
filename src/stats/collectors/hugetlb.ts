// Huge pages by size. v2: hugetlb.SIZE.*, v1: hugetlb.SIZE.*_in_bytes. Reservations come first, where the kernel
// keeps them (5.7), because they are what fails.
import { createFlatKeyedParser } from '../../core/kernel-text/flat-keyed.js'
import { possiblePageSizes } from '../../core/plan/hugetlb.js'
import type { CgroupPath } from '../../ports/cgroups.js'
import { type ExtraLabels, extraLabels } from '../catalogue/family.js'
import { memoryFamilies } from '../catalogue/memory.js'
import { readCount } from './amounts.js'
import { byVersion, type CollectContext, type Collector, type ReadValues } from './collector.js'

interface HugePageValues {
  readonly labels: ExtraLabels
  readonly usage: bigint
  /** Undefined, as failures: the kernel has no such file. */
  readonly peak: bigint | undefined
  readonly failures: bigint | undefined
}

const eventKeys = createFlatKeyedParser(['max'])
const labelsOf = new Map<string, ExtraLabels>()

function pageSizeLabels(size: string): ExtraLabels {
  const known = labelsOf.get(size) ?? extraLabels({ pagesize: size })
  labelsOf.set(size, known)
  return known
}

/** After so many cgroups without any file, the controller is taken to be off. Sizes never change while a kernel runs. */
const ENOUGH_TRIES = 64

export function createHugePageSizes({
  cgroups,
}: Pick<CollectContext, 'cgroups'>): CollectContext['hugePageSizes'] {
  const file = cgroups.version === 'v2' ? 'current' : 'usage_in_bytes'
  const controllers = cgroups.controllers('/')
  let sizes: readonly string[] | undefined =
    controllers === undefined || controllers.includes('hugetlb') ? undefined : []
  let tries = 0
  return (path) => {
    if (sizes !== undefined) return sizes
    const has = (name: string): boolean => cgroups.read(path, name) !== undefined
    const found = possiblePageSizes.filter(
      (size) => has(`hugetlb.${size}.${file}`) || has(`hugetlb.${size}.rsvd.${file}`),
    )
    if (found.length > 0 || ++tries >= ENOUGH_TRIES) sizes = found
    return found
  }
}

const reservedFirst = (
  context: CollectContext,
  path: CgroupPath,
  size: string,
  file: string,
): bigint | undefined =>
  readCount(context, path, `hugetlb.${size}.rsvd.${file}`) ??
  readCount(context, path, `hugetlb.${size}.${file}`)

const readV2: ReadValues<readonly HugePageValues[]> = (path, _scope, context) =>
  context.hugePageSizes(path).flatMap((size) => {
    const usage = reservedFirst(context, path, size, 'current')
    if (usage === undefined) return []
    const events = context.cgroups.read(path, `hugetlb.${size}.events`)
    const failures = events === undefined ? undefined : (eventKeys(events).max ?? 0n)
    // v2 keeps no peak, and upstream shows 0 for it.
    return [{ labels: pageSizeLabels(size), usage, peak: 0n, failures }]
  })

const readV1: ReadValues<readonly HugePageValues[]> = (path, _scope, context) =>
  context.hugePageSizes(path).flatMap((size) => {
    const usage = reservedFirst(context, path, size, 'usage_in_bytes')
    if (usage === undefined) return []
    const peak = reservedFirst(context, path, size, 'max_usage_in_bytes')
    const failures = reservedFirst(context, path, size, 'failcnt')
    return [{ labels: pageSizeLabels(size), usage, peak, failures }]
  })

const f = memoryFamilies

export const hugetlb: Collector<readonly HugePageValues[]> = {
  read(path, scope, context) {
    return scope === 'container' ? byVersion(readV2, readV1)(path, scope, context) : undefined
  },
  emit(sizes, emit) {
    for (const { labels, usage, peak, failures } of sizes) {
      emit(f.container_hugetlb_usage_bytes, usage, labels)
      if (peak !== undefined) emit(f.container_hugetlb_max_usage_bytes, peak, labels)
      if (failures !== undefined) emit(f.container_hugetlb_failcnt, failures, labels)
    }
  },
}

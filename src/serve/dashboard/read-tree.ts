// The cgroup tree above and below the pods: what was intended, what the files hold, and what the kernel keeps of it once
// every ancestor has capped it.
import { parentPath } from '../../core/cgroup/path.js'
import type { LiveCgroupRow, LiveMemory, LivePod, LiveValue, Part } from '../../core/dashboard/model.js'
import { effectiveProtection, type ProtectionNode } from '../../core/memory-qos/effective-protection.js'
import type { LiveReport } from '../../core/memory-qos/effective-values.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import { liveValues } from './dashboard-values.js'
import { readRawValues } from './raw-values.js'

const files = ['memory.min', 'memory.low', 'memory.high', 'memory.max'] as const
type File = (typeof files)[number]

interface Place {
  readonly path: string
  readonly title: string
  readonly memory: LiveMemory | null
}

const fieldOf = {
  'memory.min': 'min',
  'memory.low': 'low',
  'memory.high': 'high',
  'memory.max': 'max',
} as const
const written = (place: Place, file: File): string | null => place.memory?.[fieldOf[file]] ?? null
/** `max` as a protection means all of it. */
const amountOf = (text: string | null): bigint =>
  text === null ? 0n : text === 'max' ? 2n ** 63n : BigInt(text)

/** `kubepods-burstable.slice` -> `burstable` */
function titleOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.slice$/, '')
  return name.slice(name.lastIndexOf('-') + 1)
}

function ancestorsOf(pods: readonly LivePod[]): string[] {
  const found = new Set<string>()
  for (const { cgroup } of pods)
    for (
      let at = cgroup === null ? undefined : parentPath(cgroup);
      at !== undefined && at !== '/';
      at = parentPath(at)
    )
      found.add(at)
  return [...found]
}

function placesOf(cgroups: CgroupTree, pods: readonly LivePod[], timeNanos: bigint): Place[] {
  const above = ancestorsOf(pods).map((path): Place => {
    const raw = readRawValues(cgroups, path, timeNanos)
    return {
      path,
      title: titleOf(path),
      memory: raw === undefined ? null : liveValues(raw, undefined).memory,
    }
  })
  const below = pods.flatMap((pod): Place[] => [
    ...(pod.cgroup === null
      ? []
      : [{ path: pod.cgroup, title: `${pod.namespace}/${pod.name}`, memory: pod.values.memory }]),
    ...pod.containers.flatMap((c) =>
      c.cgroup === null ? [] : [{ path: c.cgroup, title: c.name, memory: c.values.memory }],
    ),
  ])
  return [...above, ...below].sort((a, b) => (a.path < b.path ? -1 : 1))
}

function protections(places: readonly Place[], file: 'memory.min' | 'memory.low') {
  const known = new Set(places.map((p) => p.path))
  const nodes = places.map((place): ProtectionNode => {
    const parent = parentPath(place.path)
    return {
      path: place.path,
      parent: parent !== undefined && known.has(parent) ? parent : undefined,
      setting: amountOf(written(place, file)),
      usage: amountOf(place.memory?.usage ?? null),
    }
  })
  return effectiveProtection(nodes)
}

/** The lowest value of all ancestors applies. */
function lowest(place: Place, file: File, byPath: ReadonlyMap<string, Place>): { value: string; at: string } {
  let best = { value: 'max', at: place.path }
  for (let at: string | undefined = place.path; at !== undefined && at !== '/'; at = parentPath(at)) {
    const above = byPath.get(at)
    const value = above === undefined ? null : written(above, file)
    if (value === null || value === 'max') continue
    if (best.value === 'max' || BigInt(value) < BigInt(best.value)) best = { value, at }
  }
  return best
}

export function readTree(
  cgroups: CgroupTree | undefined,
  pods: readonly LivePod[],
  plan: LiveReport | undefined,
  timeNanos: bigint,
): Part<readonly LiveCgroupRow[]> {
  if (cgroups === undefined) return { absent: 'this machine has no cgroups' }
  if (cgroups.version === 'v1')
    return {
      absent: 'cgroup v1 has no memory.min, memory.low and memory.high; boot with cgroup v2',
    }
  const places = placesOf(cgroups, pods, timeNanos)
  if (places.length === 0) return { absent: 'no readable pod cgroups' }
  const byPath = new Map(places.map((p) => [p.path, p]))
  const effective = {
    'memory.min': protections(places, 'memory.min'),
    'memory.low': protections(places, 'memory.low'),
  }
  const planned = new Map(plan?.rows.map((row) => [row.path, row.files]))

  const liveValue = (place: Place, file: File): LiveValue => {
    const intended = planned.get(place.path)?.find((f) => f.file === file)
    const base = {
      file,
      intended: intended?.intended ?? null,
      reason: intended?.reason ?? null,
      written: written(place, file),
    }
    if (file === 'memory.min' || file === 'memory.low') {
      const kept = effective[file].get(place.path)
      return { ...base, effective: kept?.effective.toString() ?? null, cappedBy: kept?.cappedBy ?? null }
    }
    const { value, at } = lowest(place, file, byPath)
    return { ...base, effective: value, cappedBy: at === place.path ? null : at }
  }
  return {
    data: places.map((place) => ({
      path: place.path,
      depth: place.path.split('/').length - 2,
      title: place.title,
      usage: place.memory?.usage ?? null,
      files: files.map((file) => liveValue(place, file)),
    })),
  }
}

// Strategic merge patches: applied as the API server applies them, they lead from one object to the other.
import { isEqualJson, strategicMergePatch } from '../../../src/core/kube/strategic-merge.js'
import type { Random } from '../random.js'
import { check, type FuzzTarget } from '../types.js'

type Json = Readonly<Record<string, unknown>>

const rules = { merged: { 'status.conditions': 'type' }, replaced: ['status.addresses'] }
const names = ['a', 'b', 'status', 'x.y', '__proto__', 'constructor', ''] as const

function anyValue(random: Random, depth: number): unknown {
  switch (random.below(depth > 2 ? 3 : 6)) {
    case 0:
      return random.below(3)
    case 1:
      return random.pick(['', 'x', '$patch'])
    case 2:
      return random.chance(50)
    case 3:
      return Array.from({ length: random.below(3) }, () => anyValue(random, depth + 1))
    default:
      return anyObject(random, depth + 1)
  }
}

function anyObject(random: Random, depth: number): Json {
  const fields = Array.from({ length: random.below(4) }, (): [string, unknown] => [
    random.pick(names),
    anyValue(random, depth),
  ])
  // Object.fromEntries makes own properties of names such as __proto__.
  return Object.fromEntries(fields)
}

const typed = (random: Random): Json[] =>
  (['A', 'B', 'C', 'D'] as const)
    .filter(() => random.chance(60))
    .map((type) => ({
      type,
      status: random.pick(['True', 'False']),
      ...(random.chance(50) ? { at: random.below(3) } : {}),
    }))
    .sort(() => (random.chance(50) ? -1 : 1))

const node = (random: Random): Json => ({
  metadata: { labels: anyObject(random, 2) },
  status: {
    conditions: typed(random),
    addresses: Array.from({ length: random.below(3) }, () => ({
      type: 'InternalIP',
      address: String(random.below(3)),
    })),
    capacity: anyObject(random, 3),
    images: anyValue(random, 1),
  },
})

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What the API server does, as far as such patches need it. */
function apply(before: unknown, patch: unknown, path: string): unknown {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = Object.fromEntries(isObject(before) ? Object.entries(before) : [])
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$setElementOrder/')) continue
    const at = path === '' ? key : `${path}.${key}`
    if (value === null) delete result[key]
    else {
      const next =
        at === 'status.conditions'
          ? applyList(result[key], value as Json[], patch[`$setElementOrder/${key}`] as Json[])
          : at === 'status.addresses'
            ? (value as Json[]).filter((entry) => entry['$patch'] === undefined)
            : isObject(result[key])
              ? apply(result[key], value, at)
              : value
      Object.defineProperty(result, key, {
        value: next,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
  }
  return result
}

function applyList(before: unknown, patch: readonly Json[], order: readonly Json[]): unknown[] {
  const byType = new Map(
    (Array.isArray(before) ? (before as Json[]) : []).map((entry) => [entry['type'], entry]),
  )
  for (const entry of patch)
    if (entry['$patch'] === 'delete') byType.delete(entry['type'])
    else byType.set(entry['type'], apply(byType.get(entry['type']), entry, 'entry') as Json)
  return order.map((entry) => byType.get(entry['type']))
}

export const strategicPatch: FuzzTarget = {
  name: 'strategic-patch',
  generate: (random: Random) => {
    const before = node(random)
    return { before, after: random.chance(10) ? before : node(random) }
  },
  run(input) {
    const { before, after } = input as { readonly before: Json; readonly after: Json }
    const patch = strategicMergePatch(before, after, rules)
    if (patch === undefined) return check(isEqualJson(before, after), 'no patch for two that differ')
    check(isEqualJson(apply(before, patch, ''), after), `the patch leads elsewhere: ${JSON.stringify(patch)}`)
  },
}

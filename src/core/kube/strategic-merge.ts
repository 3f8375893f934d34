// Two-way strategic merge patches: from an object as it is known to the object as it should be. A list is replaced whole
// unless it is named as one that the API server merges by key, or as one that has to be marked when it is replaced.

type Json = unknown
type Fields = Readonly<Record<string, Json>>

/** By path with dots: `status.conditions`. */
interface ListRules {
  /** Merged by the API server by this key: only entries that differ are sent, and the order. */
  readonly merged?: Readonly<Record<string, string>>
  /** The API server would merge by a key that is not unique: sent whole, with a mark. */
  readonly replaced?: readonly string[]
}

/** Undefined: the two are equal. */
export const strategicMergePatch = (
  before: object,
  after: object,
  rules: ListRules = {},
): object | undefined => diffFields(before as Fields, after as Fields, '', rules)

function diffFields(before: Fields, after: Fields, path: string, rules: ListRules): Fields | undefined {
  const patch: [string, Json][] = []
  for (const [key, was] of Object.entries(before))
    if (own(after, key) === undefined && was !== undefined) patch.push([key, null])
  for (const [key, wanted] of Object.entries(after)) {
    const was = own(before, key)
    if (wanted === undefined || isEqualJson(was, wanted)) continue
    const at = path === '' ? key : `${path}.${key}`
    const mergeKey = own(rules.merged ?? {}, at)
    if (Array.isArray(wanted) && typeof mergeKey === 'string') {
      const order = listOf(wanted).map((entry) => ({ [mergeKey]: entry[mergeKey] }))
      patch.push([key, diffList(listOf(was), listOf(wanted), mergeKey)], [`$setElementOrder/${key}`, order])
    } else if (Array.isArray(wanted) && rules.replaced?.includes(at) === true)
      patch.push([key, [...(wanted as readonly Json[]), { $patch: 'replace' }]])
    else if (isFields(wanted) && isFields(was)) patch.push([key, diffFields(was, wanted, at, rules)])
    else patch.push([key, wanted])
  }
  return patch.length === 0 ? undefined : Object.fromEntries(patch)
}

/** Names such as `constructor` are keys like others. */
const own = (fields: Fields, key: string): Json => (Object.hasOwn(fields, key) ? fields[key] : undefined)

function diffList(before: readonly Fields[], after: readonly Fields[], mergeKey: string): readonly Json[] {
  const known = new Map(before.map((entry) => [entry[mergeKey], entry]))
  const kept = new Set(after.map((entry) => entry[mergeKey]))
  const changed = after.flatMap((entry) => {
    const patch = diffFields(known.get(entry[mergeKey]) ?? {}, entry, '', {})
    return patch === undefined ? [] : [{ ...patch, [mergeKey]: entry[mergeKey] }]
  })
  const removed = [...known.keys()].filter((key) => !kept.has(key))
  return [...changed, ...removed.map((key) => ({ $patch: 'delete', [mergeKey]: key }))]
}

const isFields = (value: Json): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: Json): readonly Fields[] =>
  Array.isArray(value) ? (value as Json[]).filter(isFields) : []

/** Fields that are undefined are not there, as in JSON. */
export function isEqualJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((entry, i) => isEqualJson(entry, b[i]))
  if (!isFields(a) || !isFields(b)) return false
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) =>
    isEqualJson(own(a, key), own(b, key)),
  )
}

// What crictl prints directly and through the server, compared. Most of it must be the same to the letter; where the
// server completes an answer, everything that the runtime said must still be there.

export interface Printed {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/**
 * text: to the letter. json: the same document, whatever the order of lists (containerd lists from a map).
 * info: the same document, but for the server's own entry. values: no field is missing; values move between two calls.
 */
export type Rule = 'text' | 'json' | 'info' | 'values'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !isList(value)

/** Keys and lists in one order, as text. */
function canonical(value: Json): string {
  if (isList(value)) return `[${value.map(canonical).sort().join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const entries = Object.keys(value).sort()
  return `{${entries.map((k) => `${JSON.stringify(k)}:${canonical(value[k] ?? null)}`).join(',')}}`
}

/** containerd says 0 where it does not know; the server leaves such a field out (docs/cri-server.md, known defects). */
const isUnknown = (path: string, value: Json): boolean =>
  value === '0' && /\.(usageNanoCores|availableBytes)\.value$/.test(path)

/** Paths of all leaves that tell something; the items of a list share one. */
export function pathsOf(value: Json, at = ''): string[] {
  if (isList(value)) return [...new Set(value.flatMap((v) => pathsOf(v, `${at}[]`)))]
  if (isObject(value)) return Object.entries(value).flatMap(([k, v]) => pathsOf(v, `${at}.${k}`))
  return value === null || isUnknown(at, value) ? [] : [at]
}

const parse = (text: string): Json => JSON.parse(text) as Json

function differences(rule: Rule, direct: string, through: string): string[] {
  if (rule === 'text')
    return direct === through ? [] : [`directly ${quote(direct)}, through ${quote(through)}`]
  const [before, after] = [parse(direct), parse(through)]
  if (rule === 'values') {
    const found = new Set(pathsOf(after))
    return pathsOf(before)
      .filter((path) => !found.has(path))
      .map((path) => `${path} is missing through the server`)
  }
  const { keelson: _, ...rest } = isObject(after) ? after : {}
  const shown = rule === 'info' ? rest : after
  if (canonical(before) === canonical(shown)) return []
  if (!isObject(before) || !isObject(shown)) return ['the documents differ']
  return [...new Set([...Object.keys(before), ...Object.keys(shown)])]
    .filter((key) => canonical(before[key] ?? null) !== canonical(shown[key] ?? null))
    .map((key) => `${key}: directly ${quote(before[key])}, through ${quote(shown[key])}`)
}

const quote = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 300)

/** What is wrong; empty when nothing is. A command that the runtime alone refuses may work through the server. */
export function compareOutputs(rule: Rule, direct: Printed, through: Printed): string[] {
  if (direct.status !== 0 && through.status === 0) return []
  if (direct.status !== through.status)
    return [
      `status ${direct.status} directly, ${through.status} through: ${through.stderr.trim().slice(-300)}`,
    ]
  if (direct.status !== 0) return []
  return differences(rule, direct.stdout, through.stdout)
}

export interface ShownDriver {
  readonly cgroupDriver: string
  readonly cgroupDriverSource: string
  readonly cgroupDriverEvidence: readonly Json[]
}

/** The server's entry in `crictl info`. */
export function readShownDriver(info: string): ShownDriver {
  const document = parse(info)
  const entry = isObject(document) ? document.keelson : undefined
  if (entry === undefined || !isObject(entry)) throw new Error('crictl info shows no entry of the server')
  const { cgroupDriver, cgroupDriverSource, cgroupDriverEvidence } = entry
  if (typeof cgroupDriver !== 'string' || typeof cgroupDriverSource !== 'string')
    throw new Error(`crictl info shows no driver: ${quote(entry)}`)
  if (
    cgroupDriverEvidence === undefined ||
    !isList(cgroupDriverEvidence) ||
    cgroupDriverEvidence.length === 0
  )
    throw new Error(`crictl info shows no evidence: ${quote(entry)}`)
  return { cgroupDriver, cgroupDriverSource, cgroupDriverEvidence }
}

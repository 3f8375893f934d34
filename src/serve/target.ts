// Reads a request target into whole path segments and a query. There is one spelling of each path: whatever another
// reader could see as a different path is refused, so that authorization and routing cannot disagree.

export interface Target {
  /** `/stats/summary` -> ['stats', 'summary']; `/` -> []. Decoded. */
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

export type ParsedTarget =
  | { readonly kind: 'target'; readonly target: Target }
  | { readonly kind: 'bad'; readonly reason: string }

const maxSegments = 16
const maxSegmentLength = 512
const plain = /^[A-Za-z0-9._~!$&'()*+,;=:@-]+$/
const escapes = /%([0-9A-Fa-f]{2})/g

const bad = (reason: string): ParsedTarget => ({ kind: 'bad', reason })

/** Escapes are for characters that cannot stand for themselves; one that hides a plain character is a trick. */
function decodeSegment(raw: string): string | undefined {
  if (raw.length > maxSegmentLength) return undefined
  if (!raw.includes('%')) return plain.test(raw) ? raw : undefined
  if (!plain.test(raw.replace(escapes, '_'))) return undefined
  let decoded: string
  try {
    decoded = decodeURIComponent(raw)
  } catch {
    return undefined
  }
  for (const [, hex] of raw.matchAll(escapes)) {
    const code = Number.parseInt(hex ?? '', 16)
    const character = String.fromCharCode(code)
    if (code < 0x20 || code === 0x7f || '/\\%'.includes(character) || plain.test(character)) return undefined
  }
  return decoded
}

export function parseTarget(raw: string): ParsedTarget {
  if (!raw.startsWith('/')) return bad('only a path is accepted as the request target')
  const mark = raw.indexOf('?')
  const path = mark < 0 ? raw : raw.slice(0, mark)
  const query = new URLSearchParams(mark < 0 ? '' : raw.slice(mark + 1))
  const parts = path.slice(1).split('/')
  // A last slash names the same thing; any other empty part is a second spelling.
  if (parts.at(-1) === '') parts.pop()
  if (parts.length > maxSegments) return bad('the path has too many parts')
  const segments: string[] = []
  for (const part of parts) {
    if (part === '') return bad('the path has an empty part')
    const segment = decodeSegment(part)
    if (segment === undefined || segment === '.' || segment === '..') return bad('the path is not normalized')
    segments.push(segment)
  }
  return { kind: 'target', target: { segments, query } }
}

// Credentials of registries, by the place that they are for, and which of them are tried for an image.
import type { PullSecret } from './pull-record.js'
import { matchesImage } from './url-match.js'

export interface Credential {
  readonly username: string
  readonly password: string
  /** The pull secret that it is from; undefined: it is the node's. */
  readonly secret?: PullSecret
}

/** As in a docker configuration: `registry.example.com/team` -> credential. */
export type Credentials = readonly (readonly [place: string, credential: Credential])[]

const fields = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

/** The content of `.dockerconfigjson` (its `auths`) or of `.dockercfg`. Undefined: it is not one. */
export function readDockerConfig(
  text: string,
  form: 'dockerconfigjson' | 'dockercfg',
): Credentials | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  const entries = fields(form === 'dockercfg' ? parsed : (fields(parsed)?.['auths'] ?? {}))
  if (fields(parsed) === undefined || entries === undefined) return undefined
  const found: (readonly [string, Credential])[] = []
  for (const [place, entry] of Object.entries(entries)) {
    const credential = readEntry(fields(entry) ?? {})
    if (credential === undefined) return undefined
    found.push([place, credential])
  }
  return found
}

const word = (value: unknown): string => (typeof value === 'string' ? value : '')

/** `auth` is base64 of `user:password` and counts more than the two alone. */
function readEntry(entry: Readonly<Record<string, unknown>>): Credential | undefined {
  const auth = word(entry['auth']).trim()
  if (auth === '') return { username: word(entry['username']), password: word(entry['password']) }
  const decoded = Buffer.from(auth, 'base64').toString()
  const colon = decoded.indexOf(':')
  if (colon < 0) return undefined
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
}

const defaultRegistry = 'index.docker.io'

/** Without the scheme, and without the version of the registry's API. */
function keyOf(place: string): string {
  const plain = place.replace(/^https?:\/\//, '')
  const slash = plain.indexOf('/')
  if (slash < 0) return plain
  const path = plain.slice(slash).replace(/^\/v[12]\//, '/')
  return path === '/' ? plain.slice(0, slash) : `${plain.slice(0, slash)}${path}`
}

/** Those of the most specific place first. `repository` has its registry: `docker.io/library/busybox`. */
export function lookUp(credentials: Credentials, repository: string): readonly Credential[] {
  const byKey = new Map<string, Credential[]>()
  for (const [place, credential] of credentials) {
    const key = keyOf(place)
    byKey.set(key, [...(byKey.get(key) ?? []), credential])
  }
  const keys = [...byKey.keys()].sort().reverse()
  const found = keys.filter((key) => matchesImage(key, repository)).flatMap((key) => byKey.get(key) ?? [])
  if (found.length > 0) return found
  return repository.startsWith('docker.io/') ? (byKey.get(defaultRegistry) ?? []) : []
}

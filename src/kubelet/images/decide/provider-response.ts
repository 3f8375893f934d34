// What is said to a credential provider plugin, and what it answers.
import { parseGoDuration } from '../../../core/units/go-duration.js'
import type { Credentials } from './keyring.js'

export interface ProviderResponse {
  readonly credentials: Credentials
  readonly cacheKeyType: 'Image' | 'Registry' | 'Global'
  /** Undefined: the plugin leaves it to the configuration; 0: it is not kept. */
  readonly cacheNanos: bigint | undefined
}

export const formatProviderRequest = (apiVersion: string, image: string): string =>
  JSON.stringify({ apiVersion, kind: 'CredentialProviderRequest', image })

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

/** A text: why it is no answer. The answer itself is a credential and never part of that. */
export function readProviderResponse(text: string, wantedVersion: string): ProviderResponse | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return 'error decoding credential provider plugin response from stdout'
  }
  const { kind, apiVersion, cacheKeyType, cacheDuration, auth } = fieldsOf(parsed)
  if (apiVersion !== wantedVersion)
    return `apiVersion from credential plugin response did not match expected apiVersion:${wantedVersion}`
  if (kind !== 'CredentialProviderResponse')
    return 'error decoding credential provider plugin response from stdout'
  if (cacheKeyType !== 'Image' && cacheKeyType !== 'Registry' && cacheKeyType !== 'Global')
    return 'credential provider plugin did not return a valid cacheKeyType'
  const cacheNanos =
    cacheDuration === undefined || cacheDuration === null ? undefined : parseGoDuration(String(cacheDuration))
  if (cacheNanos === undefined && cacheDuration !== undefined && cacheDuration !== null)
    return 'credential provider plugin did not return a valid cacheDuration'
  const credentials = Object.entries(fieldsOf(auth)).map(([place, entry]) => {
    const { username, password } = fieldsOf(entry)
    return [place, { username: wordOf(username), password: wordOf(password) }] as const
  })
  return { credentials, cacheKeyType, cacheNanos }
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '')

// Which words are a CRI endpoint on this platform, which endpoints are well known, and what several answers mean.
import { keelsonError } from '../core/errors.js'
import { type Warning, warning } from './warnings.js'

export type NodeOs = 'linux' | 'windows'

/** In the order in which they are looked for and listed; the first one is the default. */
export const wellKnownEndpoints: Readonly<Record<NodeOs, readonly [string, ...string[]]>> = {
  linux: [
    'unix:///var/run/containerd/containerd.sock',
    'unix:///var/run/crio/crio.sock',
    'unix:///var/run/cri-dockerd.sock',
  ],
  windows: [
    'npipe:////./pipe/containerd-containerd',
    'npipe:////./pipe/cri-o',
    'npipe:////./pipe/cri-dockerd',
  ],
}

export const defaultEndpoint = (os: NodeOs): string => wellKnownEndpoints[os][0]

const schemeOf: Readonly<Record<NodeOs, string>> = { linux: 'unix', windows: 'npipe' }

interface NormalEndpoint {
  readonly endpoint: string
  readonly warnings: readonly Warning[]
}

/**
 * `/run/x.sock` -> `unix:///run/x.sock` with a warning; `unix:///run/x.sock` stays as it is, however often this runs.
 * A foreign scheme is refused: a prefix in front of it would make an endpoint that cannot exist.
 */
export function normalizeEndpoint(value: string, os: NodeOs, field: string): NormalEndpoint {
  const wanted = schemeOf[os]
  const refuse = (why: string) =>
    keelsonError('config.invalid', `${field}: ${JSON.stringify(value)}: ${why}`, {
      field,
      value,
      scheme: wanted,
    })
  if (value === '') throw refuse('must not be empty; set an endpoint, or omit it to detect one')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not stand in an endpoint
  if (/[\x00-\x20\x7f]/.test(value)) throw refuse('a URL must not contain blanks or control characters')
  const found = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(value)?.[1]?.toLowerCase()
  if (found === wanted)
    return { endpoint: checked(wanted + value.slice(wanted.length), wanted, refuse), warnings: [] }
  if (value.startsWith(wanted)) {
    const has = found === undefined ? 'it has none' : `found ${JSON.stringify(found)}`
    throw refuse(`only the URL scheme ${JSON.stringify(wanted)} is supported, ${has}`)
  }
  // One letter before a colon is a drive of Windows.
  if (found !== undefined && found.length > 1)
    throw refuse(`only the URL scheme ${JSON.stringify(wanted)} is supported, found ${JSON.stringify(found)}`)
  const endpoint = checked(`${wanted}://${value}`, wanted, refuse)
  return {
    endpoint,
    warnings: [
      warning(
        'scheme-prepended',
        `${field}: ${JSON.stringify(value)} has no URL scheme, which is deprecated; "${wanted}://" was prepended`,
      ),
    ],
  }
}

function checked(endpoint: string, scheme: string, refuse: (why: string) => Error): string {
  const rest = endpoint.slice(scheme.length + 1).replace(/^\/\//, '')
  if (rest === '') throw refuse('it has no path')
  if (/%(?![0-9a-fA-F]{2})/.test(rest)) throw refuse('not a valid URL: % without two digits')
  return endpoint
}

/** `unix:///run/x.sock` -> `/run/x.sock` */
export const socketPathOf = (endpoint: string): string =>
  endpoint.replace(/^unix:(?:\/\/)?/, '').replace(/^\/+/, '/')

type Detected =
  | { readonly kind: 'one'; readonly endpoint: string }
  | { readonly kind: 'none'; readonly endpoint: string }
  | { readonly kind: 'several'; readonly endpoints: readonly string[] }

/** `listening` may come in any order; only well-known endpoints count. */
export function decideDetected(listening: readonly string[], os: NodeOs): Detected {
  const found = wellKnownEndpoints[os].filter((e) => listening.includes(e))
  const [first, second] = found
  if (first === undefined) return { kind: 'none', endpoint: defaultEndpoint(os) }
  return second === undefined ? { kind: 'one', endpoint: first } : { kind: 'several', endpoints: found }
}

export const severalRuntimes = (endpoints: readonly string[], field: string): Error =>
  keelsonError(
    'node.several-runtimes',
    `found multiple CRI endpoints on this node: ${endpoints.join(', ')}; choose one with --cri-socket or in the field ${field} of the config file`,
    { endpoints },
  )

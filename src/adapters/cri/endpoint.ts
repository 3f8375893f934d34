// Endpoint text to the path that Node dials: a unix socket, or on Windows a named pipe, in the spellings that kubelet
// flags and files use.
import { isAbsolute } from 'node:path'
import { keelsonError } from '../../core/errors.js'

interface Endpoint {
  /** What `connect` of node:net takes: `/run/x.sock`, or `\\.\pipe\x`. */
  readonly socketPath: string
  /** The spelling to use: `unix:///run/containerd/containerd.sock`, `npipe:////./pipe/containerd-containerd`. */
  readonly canonical: string
  /** Set when the spelling given is accepted but deprecated. */
  readonly hint?: string
}

/** sun_path of sockaddr_un holds 108 bytes with the closing zero; Linux cuts longer ones off or refuses them. */
const longestSocketPath = 107
/** Of a whole pipe name on Windows, in characters. */
const longestPipePath = 256

const examples = {
  unix: 'write it as unix:///run/containerd/containerd.sock',
  npipe: 'write it as npipe:////./pipe/containerd-containerd',
} as const

type Platform = NodeJS.Platform

const schemeOf = (platform: Platform): 'unix' | 'npipe' => (platform === 'win32' ? 'npipe' : 'unix')

/** `unix:///run/x.sock`, `unix:/run/x.sock` and, deprecated, `/run/x.sock`; on Windows the same of pipes. */
export function parseEndpoint(text: string, platform: Platform = process.platform): Endpoint {
  const wanted = schemeOf(platform)
  const refuse: Refuse = (why) => {
    throw keelsonError(
      'runtime.endpoint',
      `read container runtime endpoint '${text}': ${why}; ${examples[wanted]}`,
      {
        endpoint: text,
      },
    )
  }
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase()
  if (scheme === 'npipe' && wanted !== 'npipe') return refuse('named pipes exist on Windows only')
  if (scheme === 'unix' && wanted !== 'unix')
    return refuse('Node dials named pipes on Windows, not unix sockets')
  if (scheme !== undefined && scheme !== wanted) return refuse(`'${scheme}' is not supported`)
  const rest = scheme === undefined ? text : text.slice(scheme.length + 1)
  if (rest.includes('\0')) return refuse('the path holds a zero byte')
  const endpoint = wanted === 'npipe' ? parsePipe(rest, refuse) : parseSocket(rest, refuse)
  if (scheme !== undefined) return endpoint
  return {
    ...endpoint,
    hint: `endpoint '${text}' without a scheme is deprecated: write ${endpoint.canonical}`,
  }
}

type Refuse = (why: string) => never

function parseSocket(rest: string, refuse: Refuse): Endpoint {
  // unix://host/path would name a host; only the empty one makes sense.
  const socketPath = rest.startsWith('//') ? rest.slice(2) : rest
  if (socketPath === '') refuse('it names no path')
  if (!isAbsolute(socketPath)) refuse('the path is not absolute')
  if (Buffer.byteLength(socketPath) > longestSocketPath)
    refuse(`the path is longer than the ${longestSocketPath} bytes a socket address holds`)
  return { socketPath, canonical: `unix://${socketPath}` }
}

/** `//./pipe/x` after the scheme's own `//`, or without it; kubelets also take the host alone: `npipe://./pipe/x`. */
function parsePipe(rest: string, refuse: Refuse): Endpoint {
  const slashes = rest.replaceAll('\\', '/')
  if (/^\/*$/.test(slashes)) refuse('it names no pipe')
  const [, host, name] = /^(?:\/\/)?\/\/([^/]+)\/pipe\/(.*)$/i.exec(slashes) ?? []
  if (host === undefined || name === undefined) return refuse('the path is no \\\\.\\pipe\\NAME')
  if (host !== '.') refuse(`the pipe is on another machine, '${host}'`)
  if (name === '') refuse('it names no pipe')
  if (name.includes('/')) refuse('the name of a pipe has no slashes')
  const socketPath = `\\\\.\\pipe\\${name}`
  if (socketPath.length > longestPipePath)
    refuse(`the name is longer than the ${longestPipePath} characters a pipe has`)
  return { socketPath, canonical: `npipe:////./pipe/${name}` }
}

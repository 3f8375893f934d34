// Endpoint text to socket path, in the spellings that kubelet flags and files use.
import { isAbsolute } from 'node:path'
import { fail } from '../../core/errors.js'

export interface Endpoint {
  readonly socketPath: string
  /** The spelling to use, as `unix:///run/containerd/containerd.sock`. */
  readonly canonical: string
  /** Set when the spelling given is accepted but deprecated. */
  readonly hint?: string
}

/** sun_path of sockaddr_un holds 108 bytes with the closing zero; Linux cuts longer ones off or refuses them. */
const longestSocketPath = 107

const example = 'write it as unix:///run/containerd/containerd.sock'

function refuse(text: string, why: string): never {
  throw fail('runtime.endpoint', `read container runtime endpoint '${text}': ${why}; ${example}`, {
    endpoint: text,
  })
}

/** `unix:///run/x.sock`, `unix:/run/x.sock` and, deprecated, `/run/x.sock`. */
export function parseEndpoint(text: string): Endpoint {
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'unix') {
    const why = scheme === 'npipe' ? 'named pipes exist on Windows only' : `'${scheme}' is not supported`
    refuse(text, why)
  }
  const rest = scheme === undefined ? text : text.slice('unix:'.length)
  // unix://host/path would name a host; only the empty one makes sense.
  const socketPath = rest.startsWith('//') ? rest.slice(2) : rest
  if (socketPath === '') refuse(text, 'it names no path')
  if (!isAbsolute(socketPath)) refuse(text, 'the path is not absolute')
  if (socketPath.includes('\0')) refuse(text, 'the path holds a zero byte')
  if (Buffer.byteLength(socketPath) > longestSocketPath)
    refuse(text, `the path is longer than the ${longestSocketPath} bytes a socket address holds`)
  const canonical = `unix://${socketPath}`
  if (scheme !== undefined) return { socketPath, canonical }
  return {
    socketPath,
    canonical,
    hint: `endpoint '${text}' without a scheme is deprecated: write ${canonical}`,
  }
}

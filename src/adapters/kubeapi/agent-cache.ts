// Connections to the API server that outlive one request. The official client makes an agent for each request, and with it
// a TLS handshake for each review; here one agent stays for as long as the credentials do.
import { createHash } from 'node:crypto'
import type { Agent as PlainAgent } from 'node:http'
import { Agent } from 'node:https'

/** Below the time after which API servers and balancers close idle connections. */
const idleMs = 20_000
const maxFreeSockets = 8

function fingerprint(options: Agent['options']): string {
  const hash = createHash('sha256')
  for (const [name, value] of Object.entries(options).sort(([a], [b]) => a.localeCompare(b)))
    hash.update(`${name}\0${String(value)}\0`)
  return hash.digest('hex')
}

/** Takes the agent of one request and gives the one to use. Others than plain TLS, such as proxies, stay as they are. */
export function createAgentCache(): (fresh: PlainAgent | undefined) => PlainAgent | undefined {
  let cached: { readonly credentials: string; readonly agent: Agent } | undefined
  return (fresh) => {
    if (!(fresh instanceof Agent) || fresh.constructor !== Agent) return fresh
    const credentials = fingerprint(fresh.options)
    if (cached?.credentials !== credentials) {
      const agent = new Agent({ ...fresh.options, keepAlive: true, maxFreeSockets, timeout: idleMs })
      cached = { credentials, agent }
    }
    return cached.agent
  }
}

// What a request must be allowed to do: verb and subresources of the node, from method and path alone. Unknown paths
// have an answer too, so that a caller without rights learns nothing about what exists.

export interface Access {
  /** Empty for a method that has no verb: only a user with all permissions may use it. */
  readonly verb: string
  /** Tried in order; one that is allowed is enough. */
  readonly subresources: readonly string[]
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** First path segment -> subresources. A row with two ends in `proxy`, the coarse right of older clusters. */
const byFirstSegment: Readonly<Record<string, readonly string[]>> = {
  stats: ['stats'],
  metrics: ['metrics'],
  logs: ['log'],
  checkpoint: ['checkpoint'],
  statusz: ['statusz'],
  flagz: ['configz'],
  pods: ['pods', 'proxy'],
  podevents: ['pods', 'proxy'],
  allocatedPods: ['pods', 'proxy'],
  runningpods: ['pods', 'proxy'],
  healthz: ['healthz', 'proxy'],
  configz: ['configz', 'proxy'],
}

/** They run something, also when a WebSocket opens them with a GET: reading rights must not be enough. */
const running = new Set(['exec', 'attach', 'run', 'portForward'])

export interface AccessRules {
  /** `KubeletFineGrainedAuthz`: off, the rows with two subresources shrink to `proxy`. */
  readonly fineGrained: boolean
}

export function decideAccess(method: string, segments: readonly string[], rules: AccessRules): Access {
  const first = segments[0] ?? ''
  const row = Object.hasOwn(byFirstSegment, first) ? byFirstSegment[first] : undefined
  const subresources = row ?? ['proxy']
  const verb = running.has(first) ? 'create' : Object.hasOwn(verbs, method) ? (verbs[method] ?? '') : ''
  if (!rules.fineGrained && subresources.length > 1) return { verb, subresources: ['proxy'] }
  return { verb, subresources }
}

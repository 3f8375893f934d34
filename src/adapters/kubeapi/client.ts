// TokenReview, SubjectAccessReview and Events over the official client, which is loaded only here and only when a
// kubeconfig is given. A failure says whether asking again can help.
import type { ApiException, ConfigurationOptions, ObservableMiddleware } from '@kubernetes/client-node'
import { type KeelsonError, keelsonError } from '../../core/errors.js'
import type { AccessQuestion, KubeApi, NodeEvent, ReviewedUser } from '../../ports/kubeapi.js'
import { createAgentCache } from './agent-cache.js'

type Client = typeof import('@kubernetes/client-node')

/** Network failures that may be gone a moment later; a refused connection or a bad certificate is not one. */
const passing = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'])
const passingStatus = new Set([429, 500, 503, 504])
const callTimeoutMs = 10_000

const codeOf = (e: unknown): string =>
  e instanceof Error && 'code' in e && typeof e.code === 'string' ? e.code : ''

const isApiException = (e: unknown): e is ApiException<unknown> =>
  e instanceof Error && 'code' in e && typeof e.code === 'number'

function toError(call: string, e: unknown): KeelsonError {
  if (isApiException(e)) {
    const details = { call, status: e.code, retryable: passingStatus.has(e.code) }
    return keelsonError('kubeapi.failed', `${call}: the API server responded with ${e.code}`, details)
  }
  const details = { call, retryable: passing.has(codeOf(e)) }
  const why = e instanceof Error ? e.message : String(e)
  return keelsonError('kubeapi.failed', `${call}: the API server is unreachable: ${why}`, details, e)
}

const reviewedUser = (user: {
  username?: string
  uid?: string
  groups?: string[]
  extra?: Record<string, string[]>
}): ReviewedUser | undefined =>
  user.username === undefined || user.username === ''
    ? undefined
    : {
        name: user.username,
        ...(user.uid === undefined ? {} : { uid: user.uid }),
        groups: user.groups ?? [],
        extra: user.extra ?? {},
      }

const accessSpec = ({ user, verb, resource, subresource, name }: AccessQuestion) => ({
  user: user.name,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: [...user.groups],
  extra: Object.fromEntries(Object.entries(user.extra).map(([k, v]) => [k, [...v]])),
  resourceAttributes: { group: '', version: 'v1', verb, resource, subresource, name },
})

const eventBody = (e: NodeEvent) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: e.name, namespace: e.namespace },
  involvedObject: {
    apiVersion: 'v1',
    kind: e.involved.kind,
    name: e.involved.name,
    uid: e.involved.uid,
    // A Node has none; its events live in `default` all the same.
    ...(e.involved.kind === 'Node' ? {} : { namespace: e.namespace }),
  },
  type: e.type,
  reason: e.reason,
  message: e.message,
  source: { component: e.component, host: e.host },
  reportingComponent: e.component,
  reportingInstance: e.host,
  firstTimestamp: new Date(e.firstMs),
  lastTimestamp: new Date(e.lastMs),
  count: e.count,
})

/** Every call ends: with its caller's signal, or after the longest time a review may take. */
function limits(
  client: Client,
  signal: AbortSignal,
  cachedAgent: ReturnType<typeof createAgentCache>,
): ConfigurationOptions {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(callTimeoutMs)])
  const middleware: ObservableMiddleware = {
    pre(context) {
      context.setSignal(limited)
      const agent = cachedAgent(context.getAgent())
      if (agent !== undefined) context.setAgent(agent)
      return new client.Observable(Promise.resolve(context))
    },
    post: (context) => new client.Observable(Promise.resolve(context)),
  }
  return { middleware: [middleware], middlewareMergeStrategy: 'append' }
}

/** Without a path: the service account of the pod that we run in. */
export async function createKubeApi(kubeconfigPath?: string): Promise<KubeApi> {
  const client = await import('@kubernetes/client-node')
  const config = new client.KubeConfig()
  try {
    if (kubeconfigPath === undefined) config.loadFromCluster()
    else config.loadFromFile(kubeconfigPath)
    if (config.getCurrentCluster() === null) throw new Error('the current context has no cluster')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw keelsonError(
      'input.unreadable',
      `read kubeconfig ${kubeconfigPath ?? 'of the service account'}: ${why}`,
      { path: kubeconfigPath },
      cause,
    )
  }
  const authentication = config.makeApiClient(client.AuthenticationV1Api)
  const authorization = config.makeApiClient(client.AuthorizationV1Api)
  const core = config.makeApiClient(client.CoreV1Api)
  const cachedAgent = createAgentCache()

  const call = async <T>(
    name: string,
    signal: AbortSignal,
    run: (options: ConfigurationOptions) => Promise<T>,
  ): Promise<T> => {
    try {
      return await run(limits(client, signal, cachedAgent))
    } catch (e) {
      throw toError(name, e)
    }
  }
  return {
    async reviewToken(token, signal) {
      const review = await call('TokenReview', signal, (options) =>
        authentication.createTokenReview(
          { body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } } },
          options,
        ),
      )
      return review.status?.authenticated === true ? reviewedUser(review.status.user ?? {}) : undefined
    },
    async reviewAccess(question, signal) {
      const review = await call('SubjectAccessReview', signal, (options) =>
        authorization.createSubjectAccessReview(
          {
            body: {
              apiVersion: 'authorization.k8s.io/v1',
              kind: 'SubjectAccessReview',
              spec: accessSpec(question),
            },
          },
          options,
        ),
      )
      const { allowed = false, denied = false, reason } = review.status ?? {}
      return { allowed: allowed && !denied, ...(reason === undefined ? {} : { reason }) }
    },
    async createEvent(event, signal) {
      await call('create Event', signal, (options) =>
        core.createNamespacedEvent({ namespace: event.namespace, body: eventBody(event) }, options),
      )
    },
  }
}

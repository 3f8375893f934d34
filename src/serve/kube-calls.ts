// TokenReview, SubjectAccessReview and Events over the client. A failure says whether asking again can help.
import { keelsonError } from '../core/errors.js'
import type { KubeObject } from '../core/kube/objects.js'
import {
  accessReviews,
  collectionPath,
  events,
  objectPath,
  type Resource,
  tokenReviews,
} from '../core/kube/path.js'
import { callFailureOf } from '../core/kube/retry.js'
import type { KubeApi } from '../ports/kube-api.js'
import type { AccessQuestion, KubeCalls, NodeEvent, ReviewedUser } from '../ports/kube-calls.js'

const callTimeoutMs = 10_000
const passingStatus = new Set([429, 500, 503, 504])

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string }
  readonly status?: { readonly authenticated?: boolean; readonly user?: UserInfo }
}
interface UserInfo {
  readonly username?: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}
interface AccessReview extends KubeObject {
  readonly spec: object
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean; readonly reason?: string }
}

const reviewedUser = ({ username, uid, groups, extra }: UserInfo): ReviewedUser | undefined =>
  username === undefined || username === ''
    ? undefined
    : { name: username, ...(uid === undefined ? {} : { uid }), groups: groups ?? [], extra: extra ?? {} }

const accessSpec = ({ user, verb, resource, subresource, name }: AccessQuestion) => ({
  user: user.name,
  ...(user.uid === undefined ? {} : { uid: user.uid }),
  groups: user.groups,
  extra: user.extra,
  resourceAttributes: { group: '', version: 'v1', verb, resource, subresource, name },
})

const eventBody = (e: NodeEvent) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: {
    name: e.name,
    namespace: e.namespace,
    ...(e.annotations === undefined ? {} : { annotations: e.annotations }),
  },
  involvedObject: {
    apiVersion: 'v1',
    kind: e.involved.kind,
    name: e.involved.name,
    uid: e.involved.uid,
    ...(e.involved.fieldPath === undefined ? {} : { fieldPath: e.involved.fieldPath }),
    // A Node has none; its events live in `default` all the same.
    ...(e.involved.kind === 'Node' ? {} : { namespace: e.namespace }),
  },
  type: e.type,
  reason: e.reason,
  message: e.message,
  source: { component: e.component, host: e.host },
  reportingComponent: e.component,
  reportingInstance: e.host,
  firstTimestamp: new Date(e.firstMs).toISOString(),
  lastTimestamp: new Date(e.lastMs).toISOString(),
  count: e.count,
})

/** The callers of reviews decide by `retryable` (deadline.ts). */
function withRetryable(e: unknown): unknown {
  const failure = callFailureOf(e)
  if (failure === undefined || !(e instanceof Error)) return e
  const retryable =
    failure.status === undefined ? failure.passing === true : passingStatus.has(failure.status)
  return keelsonError('kubeapi.failed', e.message, { ...failure, retryable }, e.cause)
}

export function createKubeCalls(api: Pick<KubeApi, 'create' | 'patch'>): KubeCalls {
  const create = async <T extends KubeObject>(
    doing: string,
    resource: Resource,
    object: T,
    signal: AbortSignal,
    namespace?: string,
  ): Promise<T> => {
    const options = { signal, timeoutMs: callTimeoutMs, retry: 'never', doing } as const
    try {
      return await api.create(collectionPath(resource, namespace), object, options)
    } catch (e) {
      throw withRetryable(e)
    }
  }
  return {
    async reviewToken(token, signal) {
      const review: TokenReview = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token },
      }
      const { status } = await create('TokenReview', tokenReviews, review, signal)
      return status?.authenticated === true ? reviewedUser(status.user ?? {}) : undefined
    },
    async reviewAccess(question, signal) {
      const review: AccessReview = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: accessSpec(question),
      }
      const { status } = await create('SubjectAccessReview', accessReviews, review, signal)
      const { allowed = false, denied = false, reason } = status ?? {}
      return { allowed: allowed && !denied, ...(reason === undefined ? {} : { reason }) }
    },
    async createEvent(event, signal) {
      await create('create Event', events, eventBody(event), signal, event.namespace)
    },
    async patchEvent(event, signal) {
      const options = { signal, timeoutMs: callTimeoutMs, retry: 'never', doing: 'patch Event' } as const
      const { count, lastTimestamp, message } = eventBody(event)
      try {
        await api.patch(objectPath(events, event), 'strategic', { count, lastTimestamp, message }, options)
        return true
      } catch (e) {
        if (callFailureOf(e)?.status === 404) return false
        throw e
      }
    },
  }
}

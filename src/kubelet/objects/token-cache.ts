// Service account tokens of pods: asked for with TokenRequest, kept until most of their life has passed, and used until they
// expire when the API server is unreachable.
import { asKeelsonError, type KeelsonError, keelsonError } from '../../core/errors.js'
import type { TokenRequest } from '../../core/kube/objects.js'
import { objectPath, serviceAccounts } from '../../core/kube/path.js'
import { callStatusOf } from '../../core/kube/retry.js'
import { retry } from '../../core/units/retry.js'
import { parseTime } from '../../core/units/rfc3339.js'
import type { Clock } from '../../ports/clock.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { Log } from '../../ports/log.js'
import { type Clocks, hasExpired, needsRefresh } from './decide/token-refresh.js'

interface TokenOptions {
  readonly api: Pick<KubeApi, 'create'>
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
}

export interface TokenQuestion {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string }
  readonly serviceAccount: string
  /** Empty: the API server's own. */
  readonly audience: string
  readonly expirationSeconds: number
}

interface CachedToken {
  readonly uid: string
  readonly token: string
  readonly issued: Clocks
  readonly lifeMs: number
  readonly random: number
}

interface TokenCache {
  token(question: TokenQuestion, signal: AbortSignal): Promise<string>
  forget(uid: string): void
}

const callTimeoutMs = 10_000
const refusalsAtFirst = 6

/** The authorizer learns of a pod a moment after the node does, and refuses until then. */
const untilKnown = (failures: number, error: KeelsonError): number | undefined =>
  callStatusOf(error) === 403 && failures < refusalsAtFirst ? 250 : undefined

export function createTokenCache({ api, clock, log, random }: TokenOptions): TokenCache {
  const cached = new Map<string, CachedToken>()
  const clocks = (): Clocks => ({
    wallMs: Number(clock.nowNanos() / 1_000_000n),
    monotonicMs: Number(clock.monotonicNanos() / 1_000_000n),
  })
  const ask = async (q: TokenQuestion, signal: AbortSignal): Promise<CachedToken> => {
    const { namespace, name, uid } = q.pod
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        audiences: q.audience === '' ? [] : [q.audience],
        expirationSeconds: q.expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    }
    const path = objectPath(serviceAccounts, { namespace, name: q.serviceAccount, subresource: 'token' })
    const create = () => api.create<TokenRequest>(path, request, { signal, timeoutMs: callTimeoutMs })
    const { spec, status } = await retry(create, { clock, signal, waitMs: untilKnown })
    const expires = status === undefined ? undefined : parseTime(status.expirationTimestamp)
    if (status === undefined || status.token === '' || expires === undefined)
      throw keelsonError('kubeapi.failed', 'the API server responded to a TokenRequest without a token')
    const issued = clocks()
    // The server says how long it lives, whatever was asked for.
    const lifeMs =
      spec?.expirationSeconds === undefined
        ? Number(expires / 1_000_000n) - issued.wallMs
        : spec.expirationSeconds * 1000
    return { uid, token: status.token, issued, lifeMs, random: random() }
  }
  return {
    async token(q, signal) {
      const key = JSON.stringify([
        q.pod.namespace,
        q.serviceAccount,
        q.audience,
        q.expirationSeconds,
        q.pod.uid,
      ])
      const found = cached.get(key)
      if (found !== undefined && !needsRefresh(found, clocks())) return found.token
      try {
        const fresh = await ask(q, signal)
        cached.set(key, fresh)
        return fresh.token
      } catch (e) {
        signal.throwIfAborted()
        if (found !== undefined && !hasExpired(found, clocks())) {
          log.warn('failed to refresh a service account token; using the old one until it expires', {
            pod: `${q.pod.namespace}/${q.pod.name}`,
            error: asKeelsonError(e),
          })
          return found.token
        }
        cached.delete(key)
        const { namespace, name } = q.pod
        throw keelsonError(
          'kubeapi.failed',
          `failed to fetch token: pod "${namespace}/${name}": ${asKeelsonError(e).message}`,
          { ...asKeelsonError(e).details },
          e,
        )
      }
    },
    forget(uid) {
      for (const [key, { uid: owner }] of cached) if (owner === uid) cached.delete(key)
    },
  }
}

// Starts the servers of one process: the main HTTPS port behind authentication, the health port on loopback, and
// the read-only port where one is configured. Every way to the outside is handed in.
import type { Clock } from '../ports/clock.js'
import type { HttpHandler, HttpListener, Listen, TlsSource } from '../ports/http.js'
import type { KubeCalls } from '../ports/kube-calls.js'
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { LocalToken, Secrets } from '../ports/secrets.js'
import { type AuthPlan, decideAuth } from './auth-plan.js'
import { sessionCookieName } from './authn/credentials.js'
import { hostRule } from './browser.js'
import { commonEndpoints } from './common-endpoints.js'
import { createAuth } from './create-auth.js'
import { createDispatch } from './dispatch.js'
import { createRouter, type Endpoint } from './endpoint.js'
import type { ConfigzContent } from './endpoints/configz.js'
import { createGuard, type Guard, openGuard } from './guard.js'
import { createHandler } from './handler.js'
import { createHealth, type HealthCheck } from './health.js'
import { createRequestMetrics, type ServerType } from './request-metrics.js'
import type { ServeSettings } from './settings.js'
import { decideTlsPolicy } from './tls-policy.js'

interface StartOptions {
  readonly settings: ServeSettings
  /** Besides those of common-endpoints.ts, which every process has. */
  readonly endpoints: readonly Endpoint[]
  readonly healthChecks?: readonly HealthCheck[]
  readonly configz: () => ConfigzContent
  readonly metrics: Metrics
  /** A separate registry: /metrics/slis shows nothing else. */
  readonly sliMetrics: Metrics
  readonly listen: Listen
  readonly tls: TlsSource
  readonly secrets: Secrets
  /** 0 to 1, for jitter. */
  readonly random: () => number
  readonly clock: Clock
  readonly log: Log
  /** Where a kubeconfig is given. */
  readonly api?: KubeCalls
  /** Where it is not. */
  readonly localToken?: LocalToken
}

export interface RunningServer {
  /** https, with the port that was really opened. */
  readonly url: string
  /** `0.0.0.0:10252`: where it really listens. */
  readonly listening: string
  readonly port: number
  readonly healthPort: number | undefined
  readonly readOnlyPort: number | undefined
  readonly auth: AuthPlan
  close(graceMs?: number): Promise<void>
}

/** `0.0.0.0:10252`: who can reach it. The URL beside it is one that works on this machine. */
const addressAndPort = ({ address, port }: HttpListener): string =>
  `${address.includes(':') ? `[${address}]` : address}:${port}`

const hostInUrl = (address: string): string => {
  if (address === '0.0.0.0' || address === '::' || address === '') return '127.0.0.1'
  return address.includes(':') ? `[${address}]` : address
}

export async function startServer(o: StartOptions): Promise<RunningServer> {
  const { settings, log } = o
  const plan = decideAuth(settings, o.api !== undefined)
  for (const warning of plan.warnings) log.warn(warning)
  const { dropped, ...policy } = decideTlsPolicy(
    settings.tlsMinVersion,
    settings.tlsCipherSuites,
    settings.tlsCurvePreferences,
  )
  if (dropped.length > 0)
    log.warn('ignoring cipher suites without forward secrecy and unknown key exchanges', { dropped })

  const requestMetrics = createRequestMetrics(o.metrics)
  const health = createHealth(o.healthChecks ?? [], o.sliMetrics)
  const isOurHost = hostRule([settings.nodeName, ...settings.hostNames])
  const main: { listener?: HttpListener } = {}
  const cookieName = (): string => sessionCookieName(main.listener?.port ?? settings.port)
  const auth = createAuth(plan, o)
  const endpoints = [
    ...commonEndpoints({ ...o, health, sessions: auth.sessions, cookieName }),
    ...o.endpoints,
  ]
  const dispatch = createDispatch({
    clock: o.clock,
    limits: settings.requests,
    enableDebuggingHandlers: settings.enableDebuggingHandlers,
  })
  const handler = (serverType: ServerType, list: readonly Endpoint[], guard: Guard): HttpHandler =>
    createHandler({
      serverType,
      router: createRouter(list),
      guard,
      dispatch,
      metrics: requestMetrics,
      log,
      clock: o.clock,
    })
  const common = (serverType: ServerType) => ({
    limits: settings.connections,
    onRefused: (reason: Parameters<typeof requestMetrics.refused>[0]) =>
      requestMetrics.refused(reason, serverType),
  })

  const guard = createGuard({
    ...auth,
    rules: { fineGrained: settings.fineGrainedAuthz },
    isOurHost,
    cookieName,
  })
  const opened: HttpListener[] = []
  const open = async (...[options, handle]: Parameters<Listen>): Promise<HttpListener> => {
    const listener = await o.listen(options, handle)
    opened.push(listener)
    return listener
  }
  const close = async (graceMs = 5000): Promise<void> => {
    await Promise.all(opened.map((l) => l.close(graceMs)))
  }
  try {
    main.listener = await open(
      {
        ...common('readwrite'),
        address: settings.address,
        port: settings.port,
        tls: { ...policy, source: o.tls },
      },
      handler('readwrite', endpoints, guard),
    )
    const healthListener =
      settings.healthzPort === 0
        ? undefined
        : await open(
            { ...common('health'), address: settings.healthzAddress, port: settings.healthzPort },
            handler(
              'health',
              endpoints.filter((e) => e.path === '/healthz'),
              openGuard(isOurHost),
            ),
          )
    const readOnlyListener =
      settings.readOnlyPort === 0
        ? undefined
        : await open(
            { ...common('readonly'), address: settings.address, port: settings.readOnlyPort },
            handler(
              'readonly',
              endpoints.filter((e) => e.readOnly === true),
              openGuard(isOurHost),
            ),
          )
    if (readOnlyListener !== undefined)
      log.warn('the read-only port serves pods and metrics without authentication', {
        port: readOnlyListener.port,
      })
    const url = `https://${hostInUrl(main.listener.address)}:${main.listener.port}`
    log.info('serving', {
      listening: addressAndPort(main.listener),
      url,
      authentication: plan.authenticators,
      authorization: plan.authorizer,
    })
    return {
      url,
      listening: addressAndPort(main.listener),
      port: main.listener.port,
      healthPort: healthListener?.port,
      readOnlyPort: readOnlyListener?.port,
      auth: plan,
      close,
    }
  } catch (e) {
    await close(0)
    throw e
  }
}

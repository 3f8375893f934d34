// What every process serves, whatever its work: the first part of the list of endpoints of kubelet, CRI server and companion.
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { Sessions } from './authn/session.js'
import type { Endpoint } from './endpoint.js'
import { type ConfigzContent, configz } from './endpoints/configz.js'
import { healthz } from './endpoints/healthz.js'
import { login } from './endpoints/login.js'
import { ownMetrics, slis } from './endpoints/metrics.js'
import type { Health } from './health.js'

interface CommonServed {
  readonly health: Health
  readonly configz: () => ConfigzContent
  readonly metrics: Metrics
  /** A separate registry: /metrics/slis shows nothing else. */
  readonly sliMetrics: Metrics
  readonly sessions: Sessions
  readonly cookieName: () => string
  readonly log: Log
}

export const commonEndpoints = (p: CommonServed): readonly Endpoint[] => [
  ...healthz(p.health, p.log),
  configz(p.configz),
  ownMetrics(p.metrics),
  slis(p.sliMetrics, p.health),
  ...login(p.sessions, p.cookieName),
]

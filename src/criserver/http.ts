// What the CRI server serves over HTTPS, besides what every process has (`serve/common-endpoints.ts`).
import type { ServedDashboard } from '../serve/dashboard/create-dashboard.js'
import type { Endpoint } from '../serve/endpoint.js'
import { dashboardPage } from '../serve/endpoints/dashboard.js'
import { dashboardApi } from '../serve/endpoints/dashboard-api.js'
import { metricsCadvisor } from '../serve/endpoints/metrics-cadvisor.js'
import { rpcs } from './endpoints/rpcs.js'
import { createCadvisorText } from './metrics/exposition.js'
import type { Services } from './services.js'

export const criEndpoints = (
  services: Services,
  upstream: string,
  dashboard: ServedDashboard,
): readonly Endpoint[] => [
  rpcs(services, upstream),
  metricsCadvisor(createCadvisorText(services)),
  ...dashboardApi(dashboard),
  ...dashboardPage(dashboard.page),
]

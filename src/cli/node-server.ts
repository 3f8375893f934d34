// The server of kubelet, companion and CRI server with its adapters put in: what each of those commands calls.

import { stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { createClock } from '../adapters/clock/clock.js'
import { listen } from '../adapters/http/listen.js'
import { openKubeApi } from '../adapters/kubeapi/open.js'
import { createLocalToken } from '../adapters/secrets/local-token.js'
import { createSecrets } from '../adapters/secrets/secrets.js'
import { ensureSelfSigned, selfSignedFiles } from '../adapters/tls/self-signed.js'
import { createTlsSource } from '../adapters/tls/source.js'
import { keelsonError } from '../core/errors.js'
import type { Clock } from '../ports/clock.js'
import type { TlsSource } from '../ports/http.js'
import type { KubeCalls } from '../ports/kube-calls.js'
import type { Log } from '../ports/log.js'
import type { Metrics } from '../ports/metrics.js'
import type { Endpoint } from '../serve/endpoint.js'
import type { ConfigzContent } from '../serve/endpoints/configz.js'
import { createFileSystemCheck } from '../serve/file-system-check.js'
import type { HealthCheck } from '../serve/health.js'
import { createKubeCalls } from '../serve/kube-calls.js'
import { createProcessMetrics } from '../serve/process-metrics.js'
import type { ServeSettings } from '../serve/settings.js'
import { type RunningServer, startServer } from '../serve/start-server.js'
import { version } from './version.js'

interface NodeServerOptions {
  readonly settings: ServeSettings
  readonly endpoints: readonly Endpoint[]
  readonly healthChecks?: readonly HealthCheck[]
  readonly configz: () => ConfigzContent
  readonly metrics: Metrics
  readonly log: Log
  readonly clock?: Clock
  /** Path; without one the process uses its local token and no reviews. */
  readonly kubeconfig?: string
  /** An API that is there already, in place of `kubeconfig`. */
  readonly api?: KubeCalls
}

export interface NodeServer extends RunningServer {
  readonly api?: KubeCalls
}

/** Names and addresses under which this node is reached. */
const ownHosts = ({ nodeName, hostNames }: ServeSettings): string[] => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((i) => i.address))
  return [...new Set(['localhost', nodeName, ...hostNames, '127.0.0.1', '::1', ...addresses])].filter(
    (host) => !host.startsWith('fe80:'),
  )
}

async function openTlsSource(settings: ServeSettings, log: Log): Promise<TlsSource> {
  const { certDirectory, clientCAFile, nodeName, servingPairFile, tlsCertFile, tlsPrivateKeyFile } = settings
  const ca = clientCAFile === undefined ? {} : { clientCaFile: clientCAFile }
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined))
    throw keelsonError('config.invalid', 'tlsCertFile and tlsPrivateKeyFile: give both or none')
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined)
    return createTlsSource({ files: { certFile: tlsCertFile, keyFile: tlsPrivateKeyFile, ...ca }, log })
  if (servingPairFile !== undefined) {
    const files = { certFile: servingPairFile, keyFile: servingPairFile, mayBeMissing: true as const, ...ca }
    return createTlsSource({ files, log })
  }
  const renew = () => ensureSelfSigned(certDirectory, settings.process, nodeName, ownHosts(settings))
  await renew()
  const files = { ...selfSignedFiles(certDirectory, settings.process), ...ca }
  return createTlsSource({ files, log, renew })
}

const openCalls = async (kubeconfig: string, log: Log): Promise<KubeCalls> =>
  createKubeCalls(await openKubeApi({ kubeconfig, log, version }))

export async function startNodeServer(o: NodeServerOptions): Promise<NodeServer> {
  const { settings, log } = o
  const tls = await openTlsSource(settings, log)
  try {
    const api = o.api ?? (o.kubeconfig === undefined ? undefined : await openCalls(o.kubeconfig, log))
    const credentials =
      api === undefined ? { localToken: createLocalToken(settings.localTokenFile, log) } : { api }
    const clock = o.clock ?? createClock()
    const fileSystem = createFileSystemCheck({ touch: () => stat(settings.certDirectory), clock })
    const server = await startServer({
      ...o,
      ...credentials,
      healthChecks: [fileSystem, ...(o.healthChecks ?? [])],
      clock,
      sliMetrics: await createProcessMetrics({ processDefaults: false }),
      listen,
      tls,
      secrets: createSecrets(),
      random: Math.random,
    })
    return {
      ...server,
      ...(api === undefined ? {} : { api }),
      async close(graceMs) {
        tls.close()
        await server.close(graceMs)
      },
    }
  } catch (e) {
    tls.close()
    throw e
  }
}

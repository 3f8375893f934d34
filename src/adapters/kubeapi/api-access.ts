// How the API server is reached: a kubeconfig, or the service account of the pod that we run in. Credentials are read anew
// for each request, because tokens of service accounts are replaced while we run.
import type { RequestOptions } from 'node:https'
import { keelsonError } from '../../core/errors.js'

export interface ApiAccess {
  readonly server: URL
  credentials(): Promise<RequestOptions>
}

/** `kubeconfig` undefined: the service account below /var/run/secrets. */
export async function openApiAccess(kubeconfig: string | undefined): Promise<ApiAccess> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  const shown = kubeconfig ?? "this pod's service account"
  try {
    if (kubeconfig === undefined) config.loadFromCluster()
    else config.loadFromFile(kubeconfig)
    const cluster = config.getCurrentCluster()
    if (cluster === null) throw new Error('the current context has no cluster')
    const server = new URL(cluster.server)
    // The library refuses each request later; a person learns it at the start.
    if (server.protocol === 'http:' && !cluster.skipTLSVerify)
      throw new Error('the server uses plain HTTP; use https, or insecure-skip-tls-verify for a test')
    return {
      server,
      async credentials() {
        const options: RequestOptions = {}
        await config.applyToHTTPSOptions(options)
        return options
      },
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw keelsonError(
      'companion.source',
      `use ${shown} for the API server: ${why}`,
      { kubeconfig: shown },
      cause,
    )
  }
}

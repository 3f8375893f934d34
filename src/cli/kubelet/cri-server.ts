// The CRI server inside the kubelet (`criServer` of KeelsonConfiguration): others get its socket, the kubelet the same answers
// without bytes in between.
import type { KubeletConfigFiles } from '../../kubelet/read-config.js'
import type { Log } from '../../ports/log.js'
import type { Metrics } from '../../ports/metrics.js'
import { checkEndpoints } from '../cri/options.js'
import { type RunningCri, startCri } from '../cri/run-server.js'

export async function startCriServer(
  listen: string,
  { loaded, endpoint }: KubeletConfigFiles,
  metrics: Metrics,
  log: Log,
): Promise<RunningCri> {
  const { keelson, kubelet } = loaded.config
  const { imageServiceEndpoint } = kubelet
  checkEndpoints({ name: 'criServer.listen', endpoint: listen }, [
    { name: 'containerRuntimeEndpoint', endpoint: endpoint.used },
    { name: 'imageServiceEndpoint', endpoint: imageServiceEndpoint },
  ])
  return await startCri(
    {
      listen,
      runtimeEndpoint: endpoint.used,
      ...(imageServiceEndpoint === undefined ? {} : { imageEndpoint: imageServiceEndpoint }),
      mode: 'complete',
      values: keelson.criServer.values,
      cgroupDriver: undefined,
      // The kubelet's own serves the metrics.
      serve: undefined,
    },
    log,
    { settings: [], env: {}, metrics },
  )
}

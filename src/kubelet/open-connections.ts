// Opens the kubelet's connections on this machine: to the runtime and its image service.
import type { CriClient } from '../ports/runtime.js'
import type { ConfigzFacts } from './configz.js'
import { connectImages, connectRuntime } from './connect.js'
import type { KubeletPorts } from './kubelet-ports.js'
import type { Life } from './lifetime.js'
import type { KubeletConfigFiles } from './read-config.js'

interface RuntimeConnections {
  readonly client: CriClient
  /** The same client unless images have a socket of their own. */
  readonly images: CriClient
  readonly runtime: ConfigzFacts['runtime']
}

export async function openRuntime(
  { loaded, endpoint }: KubeletConfigFiles,
  { log, connect }: Pick<KubeletPorts, 'log' | 'connect'>,
  { signal, onClose }: Life,
): Promise<RuntimeConnections> {
  const { runtimeRequestTimeout: timeoutMs, imageServiceEndpoint } = loaded.config.kubelet
  const open = (where: string): CriClient => {
    const client = connect(where, timeoutMs)
    onClose(() => client.close())
    return client
  }
  const client = open(endpoint.used)
  const version = await connectRuntime({ client, log, timeoutMs, signal })
  const runtime = {
    name: version.runtimeName,
    version: version.runtimeVersion,
    socket: client.socketPath,
  }
  log.info('connected to the container runtime', runtime)
  if (imageServiceEndpoint === undefined || imageServiceEndpoint === client.endpoint)
    return { client, images: client, runtime }
  const images = open(imageServiceEndpoint)
  await connectImages({ client: images, timeoutMs, signal })
  return { client, images, runtime }
}

// The adapters behind `keelson node`: this machine or a mounted one, with or without a cluster.
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createClusterObjects } from '../../adapters/kubeapi/cluster-objects.js'
import { openKubeApi } from '../../adapters/kubeapi/open.js'
import { createLog } from '../../adapters/log/log.js'
import { readHostFacts } from '../../adapters/node-root/host.js'
import { createKubeletService } from '../../adapters/node-root/kubelet-service.js'
import { createNodeMounts } from '../../adapters/node-root/mounts.js'
import { createNodeFiles } from '../../adapters/node-root/node-files.js'
import { createRuntimeOfNode } from '../../adapters/node-root/runtime-of-node.js'
import { createRuntimeSockets } from '../../adapters/node-root/runtime-sockets.js'
import { createNodeServices } from '../../adapters/node-root/services.js'
import { userInput } from '../../adapters/node-root/user-input.js'
import { keelsonError } from '../../core/errors.js'
import type { NodePorts } from '../../ports/bootstrap.js'
import { version } from '../version.js'

export interface Place {
  readonly rootfs?: string
  readonly kubeconfig?: string
}

/** Commands say what failed themselves; only what a person must know comes from the client. */
const openCluster = async (kubeconfig: string) => {
  const log = createLog({ format: 'text', level: 'warn', write: (line) => process.stderr.write(line) })
  return createClusterObjects(await openKubeApi({ kubeconfig, log, version }))
}

/** Tests bring their own ports through this. */
export type Wire = (place: Place) => Promise<NodePorts>

export const wireNode: Wire = async ({ rootfs, kubeconfig }) => {
  if (rootfs !== undefined) {
    const found = await stat(rootfs).catch(() => undefined)
    if (found?.isDirectory() !== true)
      throw keelsonError('input.unreadable', `use --rootfs ${rootfs}: it is not a directory`, { rootfs })
  }
  const root = rootfs === undefined || resolve(rootfs) === '/' ? undefined : resolve(rootfs)
  const at = root ?? '/'
  const services = createNodeServices(root)
  return {
    files: createNodeFiles(at),
    sockets: createRuntimeSockets(at),
    runtime: createRuntimeOfNode(at),
    kubelet: createKubeletService(root, services),
    services,
    mounts: createNodeMounts(at),
    cluster: kubeconfig === undefined ? undefined : await openCluster(kubeconfig),
    input: userInput,
    host: () => readHostFacts(root),
    uniqueSuffix: () => Math.random().toString(36).slice(2, 8).padEnd(6, '0'),
    now: () => new Date(),
  }
}

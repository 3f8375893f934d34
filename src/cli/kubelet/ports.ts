// The kubelet's ways to this machine: the adapters, put together.
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { createCgroupTree } from '../../adapters/cgroups/tree.js'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client.js'
import { createHost } from '../../adapters/host/host.js'
import { createKubeApi } from '../../adapters/kubeapi/client.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import type { KubeletPorts } from '../../kubelet/ports.js'
import type { Log } from '../../ports/log.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import { startNodeServer } from '../node-server.js'

export const createKubeletPorts = async (log: Log): Promise<KubeletPorts> => ({
  procfs: createProcfs(),
  host: createHost(),
  clock: createClock(),
  log,
  metrics: await createProcessMetrics(),
  connect: (endpoint, timeoutMs) => createCriClient(endpoint, { timeoutMs }),
  openCgroups: () => createCgroupTree(readCgroupLayout()),
  openKubeApi: createKubeApi,
  serve: startNodeServer,
})

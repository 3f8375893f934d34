// The kubelet's ways to this machine: the adapters, put together.
import { createCertificates } from '../../adapters/certificates/certificates.js'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { createFiles } from '../../adapters/files/files.js'
import { createHost } from '../../adapters/host/host.js'
import { createNodeHost } from '../../adapters/host/node-host.js'
import { relayUpgrade } from '../../adapters/http/relay-upgrade.js'
import { createKubeconfigs } from '../../adapters/kubeapi/node-kubeconfig.js'
import { openKubeApi } from '../../adapters/kubeapi/open.js'
import { createPodHost } from '../../adapters/pods/pod-host.js'
import { createProbeCalls } from '../../adapters/probes/probe-calls.js'
import { createKernelLog } from '../../adapters/procfs/kernel-log.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { createPrograms } from '../../adapters/programs/programs.js'
import { createStatsFiles } from '../../adapters/stats-files/stats-files.js'
import { SystemdCgroupTree } from '../../adapters/systemd/cgroup-tree.js'
import { createLogind } from '../../adapters/systemd/logind.js'
import { SystemdManager } from '../../adapters/systemd/manager.js'
import { createVolumeHost } from '../../adapters/volumes/volume-host.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { KubeletPorts, OpenedCgroups } from '../../kubelet/kubelet-ports.js'
import type { Log } from '../../ports/log.js'
import { countCalls } from '../../serve/kube-metrics.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import { openCgroupFiles } from '../cgroup-files.js'
import { diagnose, openLivePorts } from '../dashboard-ports.js'
import { startNodeServer } from '../node-server.js'
import { createDaemonMetrics } from '../process/daemon-metrics.js'
import { version } from '../version.js'

/** systemd is spoken to with the first change, not before. */
function openCgroups(driver: CgroupDriver): OpenedCgroups {
  const files = openCgroupFiles()
  if (driver === 'cgroupfs') return { tree: files, close: () => files.close() }
  const systemd = new SystemdManager()
  const tree = new SystemdCgroupTree({ files, systemd, pageSize: createProcfs().pageSize() })
  return {
    tree,
    async close() {
      tree.close()
      await systemd.close()
    },
  }
}

export const createKubeletPorts = async (
  log: Log,
  env: Readonly<Record<string, string | undefined>>,
): Promise<KubeletPorts> => {
  const metrics = await createDaemonMetrics()
  // Made with the first client: a standalone kubelet does not have the families.
  let count: ReturnType<typeof countCalls> | undefined
  return {
    version,
    nodeHost: createNodeHost(),
    procfs: createProcfs(),
    statsFiles: createStatsFiles(),
    files: createFiles(),
    podHost: createPodHost(),
    volumeHost: createVolumeHost(),
    programs: createPrograms(),
    host: createHost(),
    logind: createLogind(),
    kernelLog: createKernelLog(),
    clock: createClock(),
    log,
    metrics,
    probeMetrics: await createProcessMetrics({ processDefaults: false }),
    probeCalls: createProbeCalls(),
    live: { ...openLivePorts(), version, diagnose: (signal) => diagnose(env, undefined, signal) },
    connect: (endpoint, timeoutMs) => createCriClient(endpoint, { timeoutMs }),
    openCgroups,
    certificates: createCertificates(),
    kubeconfigs: createKubeconfigs(),
    relayUpgrade,
    openKubeApi: (kubeconfig, pairFile) => {
      count ??= countCalls(metrics)
      return openKubeApi({ kubeconfig, pairFile, log, version, report: count })
    },
    serve: startNodeServer,
  }
}

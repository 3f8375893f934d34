// The adapters behind `keelson doctor`.
import { readCgroupLayout } from '../../adapters/cgroups/detect.js'
import { createCgroupTree } from '../../adapters/cgroups/tree.js'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client/client.js'
import { askCluster } from '../../adapters/diagnosis/ask-cluster.js'
import { createDiagnosis } from '../../adapters/diagnosis/diagnosis.js'
import { createHost } from '../../adapters/host/host.js'
import { createLog } from '../../adapters/log/log.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { readSocketStatus } from '../../bootstrap/status.js'
import { asKeelsonError } from '../../core/errors.js'
import type { DoctorPorts, NodeSockets } from '../../doctor/doctor-ports.js'
import { askOnce, readAnswer } from '../../kubelet/driver/discover-driver.js'
import { gatherEvidence } from '../../kubelet/driver/gather-evidence.js'
import type { NodePorts } from '../../ports/bootstrap.js'
import { wireNode } from '../node/wire.js'
import { type ConfigChoice, findConfig } from './find-config.js'

/** Tests bring their own. */
export type WireDoctor = (choice: Omit<ConfigChoice, 'kubeletVersion'>) => Promise<DoctorPorts>

export const wireDoctor: WireDoctor = async (choice) => {
  const node = await wireNode({})
  const sockets = once(() => readSockets(node))
  const procfs = createProcfs()
  // What could not be had is a fact here and not an event.
  const log = createLog({ format: 'text', level: 'info', write: () => {} })
  return {
    procfs,
    hostname: () => createHost().hostname(),
    askCluster: (kubeconfig, nodeName, timeoutMs) => askCluster(kubeconfig, nodeName, timeoutMs, log),
    clock: createClock(),
    diagnosis: createDiagnosis(),
    hasSystemd: () => createHost().hasSystemd(),
    openCgroups: () => createCgroupTree(readCgroupLayout()),
    sockets,
    findConfig: async (process) =>
      findConfig(process, { ...choice, kubeletVersion: (await sockets()).host.kubeletVersion }),
    connect: (endpoint, timeoutMs) => createCriClient(endpoint, { timeoutMs }),
    async askDriver(client, timeoutMs, signal) {
      try {
        return readAnswer(await askOnce({ client, timeoutMs, signal }))
      } catch (e) {
        const error = asKeelsonError(e)
        return error.code === 'runtime.unimplemented'
          ? { kind: 'unimplemented', calls: 1 }
          : { kind: 'failed', calls: 1, reason: error.message }
      }
    },
    gatherEvidence: (client, cgroups, cgroupRoot, signal) =>
      gatherEvidence({ runtime: client.runtime, procfs, cgroups, cgroupRoot, log, signal }),
  }
}

async function readSockets(node: NodePorts): Promise<NodeSockets> {
  const { facts, ...status } = await readSocketStatus(node, undefined)
  const staleFlag = facts.instance === undefined ? undefined : status.places.flag.endpoint
  return { ...status, host: facts.host, staleFlag }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined
  return () => {
    kept ??= work()
    return kept
  }
}

// The cluster of this node, asked with the kubelet's own kubeconfig.
import type { EffectiveConfig } from '../../config/effective.js'
import type { ClusterFacts } from '../cluster-facts.js'
import type { DoctorPorts } from '../doctor-ports.js'

/** Undefined: the kubelet that runs has none, or none runs and none is named. */
export async function gatherCluster(
  config: EffectiveConfig,
  runs: boolean,
  ports: DoctorPorts,
  timeoutMs: number,
): Promise<ClusterFacts | undefined> {
  const { kubeconfig } = config.process
  if (!runs || kubeconfig === undefined) return undefined
  const nodeName = config.process['hostname-override'] ?? ports.hostname().trim().toLowerCase()
  const answer = await ports.askCluster(kubeconfig, nodeName, timeoutMs)
  return {
    ...answer,
    kubeconfig,
    nodeName,
    rotates: config.kubelet.rotateCertificates === true,
    nowMs: Number(ports.clock.nowNanos() / 1_000_000n),
  }
}

// The node once the driver is known: its cgroups are opened, its facts read, and the driver proven by what runs.
import type { CgroupDriver } from '../../core/cgroup/name.js'
import type { DriverInUse } from '../../core/driver/decide-driver.js'
import { type DriverProof, proveDriver } from '../../core/driver/proof.js'
import { keelsonError } from '../../core/errors.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { CriClient } from '../../ports/runtime.js'
import { reportProof } from '../driver/driver-report.js'
import { gatherEvidence } from '../driver/gather-evidence.js'
import type { KubeletPorts } from '../kubelet-ports.js'
import type { Life } from '../lifetime.js'
import type { KubeletConfigFiles } from '../read-config.js'
import { type NodeFacts, readNodeFacts } from './node-facts.js'

export interface InspectedNode {
  readonly driver: CgroupDriver
  readonly node: NodeFacts
  /** At the start. */
  readonly proof: DriverProof
  /** The same comparison with what runs now. Error: runtime.failed, when the runtime does not list it. */
  prove(signal: AbortSignal): Promise<DriverProof>
  readonly cgroups: CgroupTree
}

/** Undefined on Windows, which has no driver and no cgroups. */
export async function inspectNode(
  { loaded: { config }, endpoint }: KubeletConfigFiles,
  inUse: DriverInUse,
  client: CriClient,
  ports: KubeletPorts,
  { signal, onClose }: Life,
): Promise<InspectedNode | undefined> {
  const { driver } = inUse
  if (driver === undefined) return undefined
  const { log, procfs } = ports
  const { tree: cgroups, close } = ports.openCgroups(driver)
  onClose(close)
  const node = readNodeFacts({ ...ports, config, driver, cgroups })
  const look = async (until: AbortSignal) => {
    const { isListed, ...evidence } = await gatherEvidence({
      runtime: client.runtime,
      procfs,
      cgroups,
      cgroupRoot: config.kubelet.cgroupRoot,
      log,
      signal: until,
    })
    const hostHasSystemd = node.systemd
    return {
      isListed,
      proof: proveDriver({ ...evidence, inUse: { ...inUse, driver }, endpoint, hostHasSystemd }),
    }
  }
  const { proof } = await look(signal)
  reportProof(proof.findings, log)
  const prove = async (until: AbortSignal): Promise<DriverProof> => {
    const now = await look(until)
    if (!now.isListed)
      throw keelsonError('runtime.failed', 'compare running sandboxes: the runtime listed none')
    return now.proof
  }
  return { driver, node, proof, prove, cgroups }
}

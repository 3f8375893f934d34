// The node once the driver is known: its cgroups are opened, its facts read, and the driver proven by what runs.
import type { CgroupDriver } from '../core/cgroup-name.js'
import type { DriverInUse } from '../core/decide-driver.js'
import { type DriverProof, proveDriver } from '../core/driver-proof.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { CriClient } from '../ports/runtime.js'
import { reportProof } from './driver-report.js'
import { gatherEvidence } from './gather-evidence.js'
import type { Life } from './life.js'
import { type NodeFacts, readNodeFacts } from './node-facts.js'
import type { KubeletPorts } from './ports.js'
import type { KubeletConfigFiles } from './read-config.js'

export interface InspectedNode {
  readonly driver: CgroupDriver
  readonly node: NodeFacts
  readonly proof: DriverProof
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
  const evidence = await gatherEvidence({
    runtime: client.runtime,
    procfs,
    cgroups,
    cgroupRoot: config.kubelet.cgroupRoot,
    log,
    signal,
  })
  const proof = proveDriver({
    ...evidence,
    inUse: { ...inUse, driver },
    endpoint,
    hostHasSystemd: node.systemd,
  })
  reportProof(proof.findings, log)
  return { driver, node, proof, cgroups }
}

// Gathers the facts for every check, side by side and within a bounded time. Part of it failing is a fact as well.
import { isKeelsonError } from '../core/errors.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { DoctorPorts, NodeSockets } from './doctor-ports.js'
import type { CgroupFacts, DoctorFacts, MachineFacts } from './facts.js'
import { gatherCgroups } from './gather/cgroups.js'
import { gatherCluster } from './gather/cluster.js'
import { askPorts, kubeletFilePaths } from './gather/kubelet.js'
import { gatherRuntime } from './gather/runtime.js'
import { defaultPlace } from './socket-places.js'

export interface GatherOptions {
  /** Ask this runtime and not the one that the kubelet uses. */
  readonly endpoint?: string
  /** Ask this one where no kubelet runs and no file of the node names a runtime: crictl's. */
  readonly fallbackEndpoint?: string
  /** Between the two looks at the pods. */
  readonly waitMs?: number
  /** For all of it; what is not known by then is not asked. */
  readonly timeoutMs?: number
  readonly signal: AbortSignal
}

/** Long enough for a throttle event, short enough for a run of three seconds. */
const standardWaitMs = 700
const wholeMs = 2_500
/** The rest of the time is for what comes before and after the calls. */
const callShare = 0.8

export async function gatherFacts(ports: DoctorPorts, options: GatherOptions): Promise<DoctorFacts> {
  const timeoutMs = options.timeoutMs ?? wholeMs
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)])
  const process = await ports.diagnosis.kubeletProcess()
  const [sockets, found] = await Promise.all([ports.sockets(), ports.findConfig(process)])
  const { config } = found.loaded
  const endpoint =
    options.endpoint ??
    (process === undefined ? unusedEndpoint(sockets, options) : config.kubelet.containerRuntimeEndpoint)
  const tree = tryOr(() => ports.openCgroups())
  try {
    const cgroupRoot = config.kubelet.cgroupRoot
    const waitMs = options.waitMs ?? standardWaitMs
    const [cgroups, runtime, portAnswers, files, cluster] = await Promise.all([
      tree === undefined ? undefined : readCgroups(ports, tree, cgroupRoot, waitMs, signal),
      gatherRuntime({ ports, endpoint, cgroups: tree, cgroupRoot, callMs: timeoutMs * callShare, signal }),
      askPorts(config, ports.diagnosis, timeoutMs * callShare),
      ports.diagnosis.fileModes(kubeletFilePaths(config)),
      gatherCluster(config, process !== undefined, ports, timeoutMs * callShare),
    ])
    options.signal.throwIfAborted()
    return {
      version: config.version,
      host: sockets.host,
      machine: readMachine(ports),
      cgroups,
      endpoint,
      endpointAnswers:
        runtime.kind !== 'none' || (endpoint === sockets.wins.endpoint && sockets.wins.answers),
      endpointDenied:
        runtime.kind === 'none' && endpoint === sockets.wins.endpoint && sockets.wins.denied === true,
      runtimeLate: runtime.kind === 'late',
      runtime: runtime.kind === 'answered' ? runtime.answer : undefined,
      runtimeFacts: runtime.kind === 'answered' ? runtime.facts : undefined,
      listening: sockets.listening,
      staleFlag: sockets.staleFlag,
      sockets,
      kubelet: { ...found, process, ports: portAnswers, files },
      cluster,
    }
  } finally {
    tree?.close()
  }
}

/** A running kubelet's own settings say what it uses; this is what one would use that starts now. */
const unusedEndpoint = ({ wins }: NodeSockets, { fallbackEndpoint }: GatherOptions): string =>
  wins.place === defaultPlace ? (fallbackEndpoint ?? wins.endpoint) : wins.endpoint

const readCgroups = (
  { procfs, clock }: DoctorPorts,
  tree: CgroupTree,
  cgroupRoot: string | undefined,
  waitMs: number,
  signal: AbortSignal,
): Promise<CgroupFacts> => gatherCgroups({ tree, procfs, clock, cgroupRoot, waitMs, signal })

const readMachine = ({ procfs, hasSystemd }: DoctorPorts): MachineFacts | undefined =>
  tryOr(() => {
    const memory = procfs.memInfo()
    return {
      memoryBytes: memory.get('MemTotal') ?? 0n,
      swapBytes: memory.get('SwapTotal') ?? 0n,
      pageSize: procfs.pageSize(),
      psi: procfs.pressure('memory') !== undefined,
      systemd: hasSystemd(),
    }
  })

/** An error of ours means "not here"; anything else is a bug and stays one. */
function tryOr<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (e) {
    if (!isKeelsonError(e)) throw e
    return undefined
  }
}

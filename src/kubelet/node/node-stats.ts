// From the effective configuration to the statistics of this node.
import type { LoadedConfig } from '../../config/load.js'
import { type CgroupDriver, formatCgroupPath } from '../../core/cgroup/name.js'
import { kubepodsName, qosCgroupName } from '../../core/cgroup/pod-cgroup.js'
import { isGateEnabled } from '../../core/release/gates.js'
import type { CgroupPath, CgroupTree } from '../../ports/cgroups.js'
import type { CriClient } from '../../ports/runtime.js'
import { createStats, type Stats } from '../../stats/create-stats.js'
import type { MachineFacts } from '../../stats/render/machine-metrics.js'
import type { KubeletPorts } from '../kubelet-ports.js'

interface NodeStatsInput {
  readonly loaded: LoadedConfig
  readonly nodeName: string
  /** --root-dir without links. */
  readonly rootDir: string
  readonly client: CriClient
  readonly images: CriClient
  readonly ports: KubeletPorts
  /** Undefined on Windows, as the tree is. */
  readonly driver?: CgroupDriver | undefined
  readonly cgroups?: CgroupTree
  /** `kubelet`, `runtime` and `misc`, as far as they are known. */
  readonly systemContainers: Readonly<Record<string, CgroupPath>>
}

export async function readMachine({
  procfs,
  statsFiles,
}: Pick<KubeletPorts, 'procfs' | 'statsFiles'>): Promise<MachineFacts> {
  const cpu = procfs.cpuInfo()
  const memory = procfs.memInfo()
  return {
    processors: BigInt(cpu.processors),
    physicalCores: BigInt(cpu.cores),
    sockets: BigInt(cpu.sockets),
    memoryBytes: memory.get('MemTotal') ?? 0n,
    swapBytes: memory.get('SwapTotal') ?? 0n,
    ...(await statsFiles.machineIds()),
  }
}

/** Where the pods' cgroups are under this driver. */
export function podPaths(driver: CgroupDriver, cgroupRoot: string) {
  const kubepods = formatCgroupPath(kubepodsName(cgroupRoot), driver)
  const classes = (['Burstable', 'BestEffort'] as const).map((qos) =>
    formatCgroupPath(qosCgroupName(cgroupRoot, qos), driver),
  )
  return { podRoots: [kubepods], slices: [kubepods, ...classes], systemContainers: { pods: kubepods } }
}

/** Below 0 measuring is off upstream; here it then happens once a day, because other answers need it too. */
const DAY_MS = 86_400_000

export async function createNodeStats(input: NodeStatsInput): Promise<Stats> {
  const { loaded, ports, client, images, driver, cgroups } = input
  const { kubelet, gates } = loaded.config
  const gate = gates.PodAndContainerStatsFromCRI
  const period = kubelet.volumeStatsAggPeriod
  const paths = driver === undefined ? undefined : podPaths(driver, kubelet.cgroupRoot ?? '/')
  return createStats({
    nodeName: input.nodeName,
    client,
    imageClient: images,
    procfs: ports.procfs,
    files: ports.statsFiles,
    clock: ports.clock,
    log: ports.log,
    metrics: ports.metrics,
    // Windows has no cgroups: the runtime is the only source there, whatever the gate says.
    fromCri: isGateEnabled(gates, 'PodAndContainerStatsFromCRI') || cgroups === undefined,
    lookHere: ports.lookHere,
    cgroupSourceIsDeprecated: gate !== undefined && gate.stage !== 'alpha',
    streaming: isGateEnabled(gates, 'CRIListStreaming'),
    asCadvisor: loaded.config.profile === 'upstream',
    hugepageAware: isGateEnabled(gates, 'HugepageAwareEviction'),
    filesystemPeriodMs: period > 0 ? period : period < 0 ? DAY_MS : 60_000,
    rootDir: input.rootDir,
    podLogsDir: kubelet.podLogsDir,
    periodMs: loaded.config.keelson.metrics.period,
    switches: loaded.config.keelson.metrics,
    ...(cgroups === undefined || paths === undefined
      ? {}
      : {
          cgroups,
          machine: await readMachine(ports),
          ...paths,
          systemContainers: { ...input.systemContainers, ...paths.systemContainers },
        }),
  })
}

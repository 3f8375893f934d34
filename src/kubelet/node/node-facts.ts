// What this node is, probed once: cgroups, kernel, page size, pressure values, capacity. Comes after the driver is
// known; reads only, and refuses hosts that the configuration or the driver cannot work with.
import type { EffectiveConfig } from '../../config/effective.js'
import { resourceListOf } from '../../config/effective.js'
import { type CgroupMode, controlVersion, decideCgroupLayout } from '../../core/cgroup/layout.js'
import type { CgroupDriver } from '../../core/cgroup/name.js'
import { keelsonError } from '../../core/errors.js'
import { type Allocatable, allocatableMemory, checkReservations } from '../../core/plan/allocatable.js'
import { checkKernel } from '../../core/release/kernel-check.js'
import { type Bytes, bytes } from '../../core/units/bytes.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { Host } from '../../ports/host.js'
import type { Log } from '../../ports/log.js'
import type { Procfs } from '../../ports/procfs.js'
import { differentSysctls } from './decide/kernel-defaults.js'

export interface NodeFacts {
  readonly cgroupVersion: 1 | 2
  readonly cgroupMode: CgroupMode
  /** Controllers at the root of the tree. */
  readonly controllers: readonly string[]
  /** `6.1.0-18-amd64` */
  readonly kernel: string
  readonly pageSize: bigint
  /** Whether the kernel gives pressure stall values. */
  readonly psi: boolean
  readonly systemd: boolean
  readonly capacity: { readonly memory: Bytes; readonly cpus: number }
  readonly allocatable: Allocatable
}

interface NodeFactsInput {
  readonly config: EffectiveConfig
  readonly driver: CgroupDriver
  readonly procfs: Procfs
  readonly host: Host
  readonly cgroups: Pick<CgroupTree, 'controllers'>
  readonly log: Log
}

export function readNodeFacts({ config, driver, procfs, host, cgroups, log }: NodeFactsInput): NodeFacts {
  const layout = decideCgroupLayout(procfs.mountInfo() ?? [])
  const cgroupVersion = controlVersion(layout) === 'v2' ? 2 : 1
  const systemd = host.hasSystemd()
  refuseHost(config, driver, cgroupVersion, systemd)
  const memInfo = procfs.memInfo()
  refuseSwap(config, memInfo.get('SwapTotal') ?? 0n)
  if (config.kubelet.protectKernelDefaults) refuseSysctls(procfs)
  const kernel = procfs.osRelease()
  const memory = bytes(memInfo.get('MemTotal') ?? 0n)
  const facts: NodeFacts = {
    cgroupVersion,
    cgroupMode: layout.mode,
    controllers: cgroups.controllers('/') ?? [],
    kernel,
    pageSize: procfs.pageSize(),
    psi: procfs.pressure('memory') !== undefined,
    systemd,
    capacity: { memory, cpus: procfs.cpuInfo().processors },
    allocatable: readAllocatable(config, memory),
  }
  warnAboutHost(config, facts, log)
  return Object.freeze(facts)
}

function refuseHost(
  config: EffectiveConfig,
  driver: CgroupDriver,
  cgroupVersion: 1 | 2,
  systemd: boolean,
): void {
  if (cgroupVersion === 1 && config.kubelet.failCgroupV1)
    throw keelsonError(
      'host.cgroup-v1',
      'start on this host: it has cgroup v1 and failCgroupV1 is true; boot with systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false',
    )
  if (driver === 'systemd' && !systemd)
    throw keelsonError(
      'driver.no-systemd',
      'use the cgroup driver systemd: this host does not run systemd (no /run/systemd/system); set the runtime to cgroupfs (containerd: SystemdCgroup = false), or boot with systemd',
    )
}

function refuseSwap({ kubelet }: EffectiveConfig, swapTotal: bigint): void {
  if (!kubelet.failSwapOn || swapTotal === 0n) return
  throw keelsonError(
    'host.swap',
    `start on this host: it has ${swapTotal} bytes of swap and failSwapOn is true; run swapoff -a, or set failSwapOn: false`,
  )
}

function refuseSysctls(procfs: Pick<Procfs, 'sysctl'>): void {
  const different = differentSysctls((name) => procfs.sysctl(name))
  if (different.length === 0) return
  const list = different.map((s) => `${s.name} is ${s.found ?? 'not there'}, not ${s.wanted}`).join(', ')
  const commands = different.map((s) => `${s.name}=${s.wanted}`).join(' ')
  throw keelsonError(
    'host.sysctl',
    `start on this host: protectKernelDefaults is true and ${list}; run sysctl -w ${commands} and put the same into /etc/sysctl.d, or set protectKernelDefaults: false`,
    { different },
  )
}

function readAllocatable({ kubelet }: EffectiveConfig, memoryCapacity: Bytes): Allocatable {
  const input = {
    memoryCapacity,
    kubeReserved: resourceListOf(kubelet.kubeReserved),
    systemReserved: resourceListOf(kubelet.systemReserved),
    memoryEviction: kubelet.evictionHard['memory.available'],
  }
  const [problem] = checkReservations(input)
  if (problem !== undefined)
    throw keelsonError('config.invalid', `${problem.path}: ${problem.message}; ${problem.remedy}`)
  return allocatableMemory(input)
}

function warnAboutHost(config: EffectiveConfig, facts: NodeFacts, log: Log): void {
  if (facts.cgroupVersion === 1)
    log.warn('this host has cgroup v1: Memory QoS, PSI and swap of pods need cgroup v2', {
      mode: facts.cgroupMode,
      remedy: 'boot with systemd.unified_cgroup_hierarchy=1',
    })
  const check = checkKernel({
    osrelease: facts.kernel,
    gate: config.memoryQos.enabled,
    cgroupVersion: facts.cgroupVersion,
  })
  if (check.kind === 'livelock-risk' || check.kind === 'unreadable')
    log.warn(`Memory QoS: ${check.message}`, { kernel: facts.kernel })
}

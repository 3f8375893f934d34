// The companion's ways to this machine, put together: tree, runtime, notes on disk, pod source, server.
import { mkdirSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { createClock } from '../../adapters/clock/clock.js'
import { createCriClient } from '../../adapters/cri/client.js'
import { createFiles } from '../../adapters/files/files.js'
import { openApiAccess } from '../../adapters/kubeapi/api-access.js'
import { createKubeApi } from '../../adapters/kubeapi/client.js'
import { createKubeletApi, createKubeletPods } from '../../adapters/kubeapi/kubelet-api.js'
import { createPodWatch } from '../../adapters/kubeapi/pod-watch.js'
import { takeProcessLock } from '../../adapters/lock/process-lock.js'
import { createProcfs } from '../../adapters/procfs/procfs.js'
import { SystemdCgroupTree } from '../../adapters/systemd/cgroup-tree.js'
import { SystemdManager } from '../../adapters/systemd/manager.js'
import { readManifest } from '../../config/read-manifest.js'
import { bytes } from '../../core/bytes.js'
import type { CgroupDriver } from '../../core/cgroup-name.js'
import { fail } from '../../core/errors.js'
import { checkKernel } from '../../core/kernel-check.js'
import { type KubeletSettings, parseKubeletSettings } from '../../core/kubelet-settings.js'
import type { LiveSetting } from '../../core/live-model.js'
import { createEventQueue } from '../../kubelet/event-queue.js'
import { statsEndpoints } from '../../kubelet/node-stats.js'
import { createCompanion } from '../../memory-qos/companion/companion.js'
import { companionInput, decideCompanionDriver } from '../../memory-qos/companion/node-input.js'
import { type FoundAbout, type FoundValues, openFoundValues } from '../../memory-qos/found-values.js'
import type { MemoryQosEvent } from '../../memory-qos/report.js'
import type { CgroupTree } from '../../ports/cgroups.js'
import type { KubeApi } from '../../ports/kubeapi.js'
import type { Log } from '../../ports/log.js'
import type { PodSource } from '../../ports/pod-source.js'
import type { Procfs } from '../../ports/procfs.js'
import type { CriClient } from '../../ports/runtime.js'
import { memoryQosEndpoint } from '../../serve/endpoints/memory-qos.js'
import { createProcessMetrics } from '../../serve/process-metrics.js'
import { openCgroupFiles } from '../cgroup-files.js'
import { readConfig } from '../config-files.js'
import { readInput } from '../input.js'
import type { Io } from '../io.js'
import { startNodeServer } from '../node-server.js'
import { serverSettings } from '../server-flags.js'
import { companionLive } from './live.js'
import { type CompanionCommandOptions, defaultRuntimeEndpoint } from './options.js'
import { createCompanionStats } from './stats.js'

export const callTimeoutMs = 30_000
const maxConfigBytes = 4 * 1024 * 1024
const podsPeriodMs = 10_000

export interface OpenMachine {
  readonly cgroups: CgroupTree
  readonly client: CriClient
  readonly found: FoundValues
  readonly pageSize: bigint
  readonly timeoutMs: number
  readonly driver: CgroupDriver
  close(): Promise<void>
}

type MachineChoice = Pick<
  CompanionCommandOptions,
  'stateDir' | 'containerRuntimeEndpoint' | 'cgroupMount' | 'procMount'
>

const procfsOf = ({ procMount }: Pick<MachineChoice, 'procMount'>): Procfs =>
  createProcfs(procMount === undefined ? {} : { proc: procMount })

/** Takes the lock first: two companions, or one and a rollback, would undo each other. */
export async function openMachine(
  options: MachineChoice,
  settings: KubeletSettings | undefined,
): Promise<OpenMachine> {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 })
  const lock = await takeProcessLock(`companion ${options.stateDir}`)
  if (lock === undefined)
    throw fail(
      'companion.busy',
      `use ${options.stateDir}: a companion or its rollback is at work; end it first`,
    )
  try {
    return await openLocked(options, settings, lock)
  } catch (e) {
    lock.release()
    throw e
  }
}

async function openLocked(
  options: MachineChoice,
  settings: KubeletSettings | undefined,
  lock: { release(): void },
): Promise<OpenMachine> {
  const pageSize = createProcfs().pageSize()
  const files = openCgroupFiles(options.cgroupMount)
  const open = (about?: FoundAbout): Promise<FoundValues> =>
    openFoundValues({
      files: createFiles(),
      path: `${options.stateDir}/found-values.json`,
      bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      ...(about === undefined ? {} : { about }),
    })
  const before = await open()
  const given = options.containerRuntimeEndpoint ?? settings?.containerRuntimeEndpoint
  const about: FoundAbout = {
    driver:
      settings === undefined
        ? (before.about?.driver ?? 'cgroupfs')
        : decideCompanionDriver(settings, (path) => files.exists(path)),
    runtimeEndpoint: given ?? before.about?.runtimeEndpoint ?? defaultRuntimeEndpoint,
  }
  const { driver } = about
  const systemd = driver === 'systemd' ? new SystemdManager() : undefined
  const cgroups = systemd === undefined ? files : new SystemdCgroupTree({ files, systemd, pageSize })
  const client = createCriClient(about.runtimeEndpoint, { timeoutMs: callTimeoutMs })
  const found = await open(about)
  return {
    cgroups,
    client,
    found,
    pageSize,
    timeoutMs: callTimeoutMs,
    driver,
    async close() {
      client.close()
      cgroups.close()
      await systemd?.close()
      lock.release()
    },
  }
}

function kubeletOf(o: CompanionCommandOptions) {
  return createKubeletApi({
    url: o.kubeletUrl,
    ...(o.kubeletTokenFile === undefined ? {} : { tokenFile: o.kubeletTokenFile }),
    ...(o.kubeletCaFile === undefined ? {} : { caFile: o.kubeletCaFile }),
    ...(o.kubeletCertFile === undefined ? {} : { certFile: o.kubeletCertFile }),
    ...(o.kubeletKeyFile === undefined ? {} : { keyFile: o.kubeletKeyFile }),
    ...(o.kubeletSkipVerify === undefined ? {} : { skipVerify: o.kubeletSkipVerify }),
  })
}

type AskSettings = (signal: AbortSignal) => Promise<KubeletSettings>

async function readSettingsFile(path: string, io: Io): Promise<KubeletSettings> {
  const [document] = readManifest(await readInput(path, maxConfigBytes, io))
  return parseKubeletSettings(document?.content)
}

async function openSource(o: CompanionCommandOptions, nodeName: string, log: Log): Promise<PodSource> {
  const clock = createClock()
  if (o.podsFrom === 'kubelet')
    return createKubeletPods({ api: kubeletOf(o), clock, log, periodMs: podsPeriodMs })
  const access = await openApiAccess(o.kubeconfig)
  return createPodWatch({ access, nodeName, clock, log })
}

export interface RunningCompanion {
  readonly done: Promise<void>
  readonly url: string | undefined
  close(): Promise<void>
}

export async function startCompanion(
  o: CompanionCommandOptions,
  io: Io,
  log: Log,
  signal: AbortSignal,
  flags: readonly LiveSetting[] = [],
): Promise<RunningCompanion> {
  const { config, keelsonOrigins: origins } = await readConfig({ keelsonConfig: o.keelsonConfig }, [], io)
  const { companion: policy, ports } = config.keelson
  const nodeName = o.nodeName ?? io.env['NODE_NAME'] ?? hostname().toLowerCase()
  const askSettings: AskSettings | undefined =
    o.kubeletConfig === undefined
      ? async (s) => parseKubeletSettings(await kubeletOf(o).configz(s))
      : undefined
  const settings =
    askSettings === undefined ? await readSettingsFile(o.kubeletConfig ?? '', io) : await askSettings(signal)
  const machine = await openMachine(o, settings)
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  try {
    const procfs = procfsOf(o)
    const clock = createClock()
    const metrics = await createProcessMetrics()
    const api =
      o.kubeconfig !== undefined || o.inCluster === true ? await createKubeApi(o.kubeconfig) : undefined
    const cgroupVersion = machine.cgroups.version === 'v2' ? 2 : 1
    const memoryCapacity = bytes(procfs.memInfo().get('MemTotal') ?? 0n)
    const kernel = checkKernel({ osrelease: procfs.osRelease(), gate: true, cgroupVersion })
    const companion = createCompanion({
      ...machine,
      runtime: machine.client.runtime,
      clock,
      log,
      metrics,
      event: eventsTo(api, nodeName, log, ended),
      signal: ended,
      source: await openSource(o, nodeName, log),
      settings,
      ...(askSettings === undefined ? {} : { askSettings }),
      input: (kubelet) =>
        companionInput(
          kubelet,
          { memoryCapacity, pageSize: machine.pageSize, cgroupVersion },
          machine.driver,
          { factor: policy.memoryThrottlingFactor, policy: policy.memoryReservationPolicy },
        ),
      ...(kernel.kind === 'livelock-risk' ? { kernelMessage: kernel.message } : {}),
      recursiveProtection: mountedRecursive(),
      periodMs: Number(o.period) * 1000,
    })
    const port = o.port ?? ports.companion
    const stats =
      port === 0
        ? undefined
        : await createCompanionStats({
            ...machine,
            procfs,
            nodeName,
            cgroupRoot: settings.cgroupRoot,
            switches: config.keelson.metrics,
            log,
            metrics,
          })
    const server =
      stats === undefined
        ? undefined
        : await startNodeServer({
            settings: serverSettings({ ...o, port }, 'companion', nodeName),
            endpoints: [
              memoryQosEndpoint(companion.memoryQos),
              ...statsEndpoints(stats),
              ...companionLive({
                ...machine,
                procfs,
                clock,
                log,
                nodeName,
                settings,
                stats,
                memoryQos: companion.memoryQos,
                flags,
                config: config.keelson,
                origins,
                env: io.env,
                signal: ended,
              }),
            ],
            configz: () => ({
              kubeletconfig: {},
              keelson: { companion: policy, driver: machine.driver, stats: stats.describe() },
            }),
            metrics,
            log,
            ...(api === undefined ? {} : { api }),
          })
    log.info('the companion is up', {
      node: nodeName,
      cgroupDriver: machine.driver,
      policy: policy.memoryReservationPolicy,
      factor: policy.memoryThrottlingFactor,
      podsFrom: o.podsFrom,
      foundBefore: machine.found.cgroups.size,
    })
    const done = Promise.all([companion.run(), stats?.run(ended)]).then(() => undefined)
    return {
      done,
      url: server?.url,
      async close() {
        stop.abort(new Error('the companion is closed'))
        await done.catch(() => undefined)
        await server?.close()
        await machine.close()
      },
    }
  } catch (e) {
    stop.abort(new Error('the companion did not start'))
    await machine.close()
    throw e
  }
}

const mountedRecursive = (): boolean =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.includes(' - cgroup2 ') && line.includes('memory_recursiveprot'))

function eventsTo(
  api: KubeApi | undefined,
  nodeName: string,
  log: Log,
  signal: AbortSignal,
): (event: MemoryQosEvent) => void {
  if (api === undefined)
    return ({ type, reason, message, pod }) =>
      log.info(message, {
        type,
        reason,
        ...(pod === undefined ? {} : { pod: `${pod.namespace}/${pod.name}` }),
      })
  const clock = createClock()
  const queue = createEventQueue({ api, clock, log, nodeName, component: 'keelson-companion', signal })
  return ({ pod, ...event }) =>
    queue.record({ ...event, ...(pod === undefined ? {} : { involved: { kind: 'Pod', ...pod } }) })
}

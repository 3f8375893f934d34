// The start of the kubelet, in its fixed order: configuration, connect, cgroup driver, node facts, proof, server,
// loops. No cgroup is opened before the driver is known.
import type { EffectiveConfig } from '../config/effective.js'
import { configError, type LoadedConfig } from '../config/load.js'
import { type ConfigProblem, type ConfigWarning, formatFinding } from '../config/origin.js'
import type { CgroupDriver } from '../core/cgroup/name.js'
import type { DriverInUse } from '../core/driver/decide-driver.js'
import type { DriverProof } from '../core/driver/proof.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { Clock } from '../ports/clock.js'
import type { Log } from '../ports/log.js'
import type { CriClient } from '../ports/runtime.js'
import { createBackgroundValue } from '../serve/dashboard/background-value.js'
import type { HealthCheck } from '../serve/health.js'
import { createKubeCalls } from '../serve/kube-calls.js'
import { joinCluster } from './certificates/join-cluster.js'
import { keepCertificates, openServingPairs } from './certificates/keep-certificates.js'
import { exposeLosingSupport, runtimeUpgradeNeeded } from './driver/driver-report.js'
import { watchRuntime } from './driver/runtime-watch.js'
import { asksRuntime, settleDriver } from './driver/settle-driver.js'
import { createEventQueue, type EventQueue } from './events/event-queue.js'
import { serveNode } from './http.js'
import { loadCredentialProviders } from './images/load-providers.js'
import type { KubeletPorts } from './kubelet-ports.js'
import { beginLife, type Life } from './lifetime.js'
import { createKubeletMemoryQos } from './memory-qos.js'
import { watchMetricsUrl } from './metrics-url.js'
import { createApiContact } from './node/api-contact.js'
import { liveCluster } from './node/decide/live-cluster.js'
import { type InspectedNode, inspectNode } from './node/inspect-node.js'
import { startMembership } from './node/membership.js'
import type { NodeFacts } from './node/node-facts.js'
import { createNodeStats } from './node/node-stats.js'
import { createOwnNode, waitForUid } from './node/own-node.js'
import { startSystemCgroups } from './node/system-cgroups.js'
import { createNodeObjects } from './objects/node-objects.js'
import { openRuntime } from './open-connections.js'
import { runsPods, startPods } from './pods/start-pods.js'
import type { KubeletConfigFiles } from './read-config.js'
import { certDirectory, resolveRootDir } from './serve-settings.js'
import { type Protection, startProtection } from './start-protection.js'

/** The proof is at most this old when it is served. */
const proofMs = 10_000

export interface RunningKubelet {
  readonly nodeName: string
  readonly driver: DriverInUse
  /** Undefined on Windows. */
  readonly node: NodeFacts | undefined
  readonly proof: DriverProof | undefined
  readonly cgroups: CgroupTree | undefined
  readonly runtime: CriClient
  readonly images: CriClient
  /** Undefined in standalone mode. */
  readonly events: EventQueue | undefined
  /** Undefined with enableServer: false. */
  readonly url: string | undefined
  readonly healthChecks: readonly HealthCheck[]
  /** Resolves after close(); rejects when a loop died of a bug. */
  readonly done: Promise<void>
  close(): Promise<void>
}

export async function startKubelet(
  files: KubeletConfigFiles,
  ports: KubeletPorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<RunningKubelet> {
  acceptConfig(files.loaded, ports.log)
  setOwnOomScore(files.loaded.config.kubelet.oomScoreAdj, ports)
  const life = beginLife(signal)
  try {
    const started = await startParts(files, ports, life)
    return {
      ...started,
      async close() {
        await life.end()
        await started.done
      },
    }
  } catch (e) {
    await life.end()
    throw e
  }
}

async function startParts(
  files: KubeletConfigFiles,
  ports: KubeletPorts,
  life: Life,
): Promise<Omit<RunningKubelet, 'close'>> {
  const { loaded } = files
  const { config } = loaded
  const { clock, log } = ports
  const { signal } = life
  const nodeName = config.process['hostname-override'] ?? ports.host.hostname().trim().toLowerCase()

  const rootDir = await resolveRootDir(config, ports.podHost)
  const { client, images, runtime } = await openRuntime(files, ports, life)
  const inUse = await settleDriver(loaded, client, ports, signal)
  exposeLosingSupport(inUse, ports.metrics)
  const linux = await inspectNode(files, inUse, client, ports, life)
  const system = linux === undefined ? undefined : startSystemCgroups(config, linux.cgroups, ports, signal)
  const pki = certDirectory(config, rootDir)
  const link = await joinCluster(config, nodeName, pki, ports, signal)
  if (link !== undefined) life.onClose(() => link.api.close())
  const servingPairs = openServingPairs(config, pki, link, ports)
  const api = link === undefined ? undefined : createKubeCalls(link.api)
  const own = link === undefined ? undefined : createOwnNode(link.api, nodeName)
  const events =
    api === undefined || own === undefined
      ? undefined
      : createEventQueue({
          api,
          clock,
          log,
          nodeName,
          nodeUid: waitForUid(own, clock, signal),
          rate: eventRate(config.kubelet),
          signal,
        })
  if (inUse.event) events?.record(runtimeUpgradeNeeded(client.socketPath))

  const contact = createApiContact(clock, log)
  const metricsUrl = watchMetricsUrl({ client, log, signal })
  const stats = await createNodeStats({
    loaded,
    nodeName,
    rootDir,
    client,
    images,
    ports,
    ...linux,
    systemContainers: system?.containers ?? {},
  })
  const shared = { config, rootDir, runtime: client, ports, signal }
  const memoryQos =
    linux === undefined || !runsPods(loaded)
      ? undefined
      : await createKubeletMemoryQos({ ...linux, ...shared, events })
  const objects =
    link === undefined || !runsPods(loaded)
      ? undefined
      : createNodeObjects({ api: link.api, clock, log, syncMs: config.kubelet.syncFrequency, signal })
  const credentialProviders = await loadCredentialProviders(config.process, ports, signal)
  let protection: Protection | undefined
  const pods =
    linux === undefined
      ? undefined
      : startPods({
          ...linux,
          ...shared,
          events,
          objects,
          credentialProviders,
          cluster: link === undefined || own === undefined ? undefined : { api: link.api, own },
          memoryQos,
          nodeName,
          images,
          runtimeName: runtime.name,
          admissionHandlers: [({ pod }) => protection?.rejects(pod)],
        })

  protection =
    pods === undefined
      ? undefined
      : await startProtection({ ...shared, images, events, pods, stats: stats.pressure })

  const seen: { runtimeDiffers: CgroupDriver | undefined } = { runtimeDiffers: undefined }
  const facts = { loaded, inUse, node: linux?.node, runtime }
  const proof = linux === undefined ? () => undefined : keepProof(linux, clock, signal)
  const server = await serveNode(
    {
      facts: () => ({ ...facts, proof: proof(), ...seen }),
      metricsUrl,
      nodeName,
      rootDir,
      client,
      linux,
      stats,
      memoryQos,
      pods,
      api,
      cluster: () =>
        link === undefined || own === undefined
          ? { absent: 'standalone: started without --kubeconfig' }
          : {
              data: liveCluster({
                server: link.api.server,
                node: own.current(),
                silentMs: contact.silentMs(),
              }),
            },
      servingPairFile: servingPairs?.currentPath,
      signal,
    },
    ports,
  )
  if (server !== undefined) life.onClose(() => server.close())

  const membership =
    link === undefined || own === undefined || events === undefined
      ? undefined
      : startMembership({
          ...shared,
          nodeName,
          api: link.api,
          own,
          contact,
          events,
          images,
          cgroupVersion: linux?.node.cgroupVersion,
          ...(protection === undefined
            ? {}
            : { pressure: protection.pressure, unhealthy: protection.unready }),
        })
  protection?.onUrgent(() => membership?.reportNow())
  const certificatesDone =
    link === undefined
      ? undefined
      : keepCertificates({ ...shared, link, nodeName, servingPairs, node: () => own?.current() })
  const statsDone = stats.run(signal)
  const watchDone = watchRuntime({
    client,
    clock,
    log,
    timeoutMs: config.kubelet.runtimeRequestTimeout,
    signal,
    driver: inUse.driver,
    compares: asksRuntime(loaded) && inUse.driver !== undefined,
    inFallback: inUse.fallback !== undefined,
    onDifference: (driver) => {
      seen.runtimeDiffers = driver
    },
  })
  log.info('the kubelet is up', { node: nodeName, cgroupDriver: inUse.driver, source: inUse.source })
  return {
    nodeName,
    driver: inUse,
    node: linux?.node,
    proof: linux?.proof,
    cgroups: linux?.cgroups,
    runtime: client,
    images,
    events,
    url: server?.url,
    healthChecks: pods?.healthChecks ?? [],
    done: Promise.all([
      watchDone,
      statsDone,
      system?.done,
      pods?.done,
      objects?.done,
      protection?.done,
      memoryQos?.memoryQos.run(),
      membership?.done,
      certificatesDone,
    ]).then(() => undefined),
  }
}

const eventRate = ({ eventRecordQPS, eventBurst }: EffectiveConfig['kubelet']) =>
  eventRecordQPS === 0 ? undefined : { perSecond: eventRecordQPS, burst: Math.max(1, eventBurst) }

/** At the start no pod runs yet, so what runs is compared again whenever the answer is read. */
function keepProof({ proof, prove }: InspectedNode, clock: Clock, signal: AbortSignal): () => DriverProof {
  const kept = createBackgroundValue({
    clock,
    signal,
    everyMs: proofMs,
    meanwhile: { data: proof },
    find: prove,
  })
  return () => {
    const part = kept()
    return 'data' in part ? part.data : proof
  }
}

/** Warnings are said even when problems end the start. Who asks for strictness wants no setting that does nothing. */
function acceptConfig({ config, warnings, problems: found }: LoadedConfig, log: Log): void {
  for (const w of warnings)
    if (w.id === 'without-effect') log.info(formatFinding(w), { id: w.id })
    else log.warn(formatFinding(w), { id: w.id })
  const problems = [...found, ...(config.strict ? notHonoured(warnings) : [])]
  if (problems.length > 0) throw configError(problems)
}

/** Lowering it needs a capability; as upstream, a start without it goes on. */
function setOwnOomScore(value: number | undefined, { host, log }: Pick<KubeletPorts, 'host' | 'log'>): void {
  if (value === undefined || host.os !== 'linux') return
  try {
    host.setOomScoreAdj(value)
  } catch (error) {
    log.warn('oomScoreAdj cannot be set: the OOM killer may end the kubelet like any other process', {
      oomScoreAdj: value,
      error,
      remedy: 'run it with CAP_SYS_RESOURCE, or set OOMScoreAdjust= in its unit',
    })
  }
}

const notHonoured = (warnings: readonly ConfigWarning[]): readonly ConfigProblem[] =>
  warnings.filter((w) => w.id === 'not-honoured').map((w) => ({ ...w, code: 'config.invalid' as const }))

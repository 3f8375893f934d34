// The start of the kubelet, in its fixed order: configuration, connect, cgroup driver, node facts, proof, server,
// loops. No cgroup is opened before the driver is known.
import { configError, type LoadedConfig } from '../config/load.js'
import { formatFinding } from '../config/origin.js'
import type { CgroupDriver } from '../core/cgroup-name.js'
import type { DriverInUse } from '../core/decide-driver.js'
import { type DriverProof, proveDriver } from '../core/driver-proof.js'
import type { CgroupTree } from '../ports/cgroups.js'
import type { KubeApi } from '../ports/kubeapi.js'
import type { Log } from '../ports/log.js'
import type { CriClient } from '../ports/runtime.js'
import type { Endpoint } from '../serve/endpoint.js'
import { memoryQosEndpoint } from '../serve/endpoints/memory-qos.js'
import type { HealthCheck } from '../serve/health.js'
import { type ConfigzFacts, kubeletConfigz } from './configz.js'
import { connectImages, connectRuntime } from './connect.js'
import { exposeLosingSupport, reportProof, runtimeUpgradeNeeded } from './driver-report.js'
import { createEventQueue, type EventQueue } from './event-queue.js'
import { gatherEvidence } from './gather-evidence.js'
import { kubeletLive } from './live.js'
import { createKubeletMemoryQos } from './memory-qos.js'
import { watchMetricsUrl } from './metrics-url.js'
import { type NodeFacts, readNodeFacts } from './node-facts.js'
import { createNodeStats, podPaths, statsEndpoints } from './node-stats.js'
import { runsPods, startStaticPods } from './pods/start.js'
import type { KubeletPorts } from './ports.js'
import type { KubeletConfigFiles } from './read-config.js'
import { watchRuntime } from './runtime-watch.js'
import { kubeletServeSettings } from './serve-settings.js'
import { asksRuntime, settleDriver } from './settle-driver.js'

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
  /** Resolves after close(); rejects when a loop died of a bug. */
  readonly done: Promise<void>
  close(): Promise<void>
}

type Closer = () => void | Promise<void>

export async function startKubelet(
  { loaded, endpoint }: KubeletConfigFiles,
  ports: KubeletPorts,
  signal: AbortSignal = new AbortController().signal,
): Promise<RunningKubelet> {
  const { clock, log, metrics } = ports
  acceptConfig(loaded, log)
  const { kubelet, process } = loaded.config
  const nodeName = process['hostname-override'] ?? ports.host.hostname().trim().toLowerCase()
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  const closers: Closer[] = []
  const close = async (): Promise<void> => {
    stop.abort(new Error('the kubelet is closed'))
    for (const closer of closers.splice(0).reverse()) await closer()
  }
  try {
    const timeoutMs = kubelet.runtimeRequestTimeout
    const open = (where: string): CriClient => {
      const client = ports.connect(where, timeoutMs)
      closers.push(() => client.close())
      return client
    }
    const client = open(endpoint.used)
    const version = await connectRuntime({ client, log, timeoutMs, signal: ended })
    const runtime = { name: version.runtimeName, version: version.runtimeVersion, socket: client.socketPath }
    log.info('connected to the container runtime', runtime)
    const images = openImages(kubelet.imageServiceEndpoint, client, open)
    if (images !== client) await connectImages({ client: images, timeoutMs, signal: ended })

    const inUse = await settleDriver(loaded, client, ports, ended)
    exposeLosingSupport(inUse, metrics)
    const linux =
      inUse.driver === undefined
        ? undefined
        : await inspectNode(
            { loaded, endpoint },
            { ...inUse, driver: inUse.driver },
            client,
            ports,
            ended,
            closers,
          )

    const api = await openApi(process.kubeconfig, ports)
    const events =
      api === undefined ? undefined : createEventQueue({ api, clock, log, nodeName, signal: ended })
    if (inUse.event) events?.record(runtimeUpgradeNeeded(client.socketPath))

    const seen: { runtimeDiffers: CgroupDriver | undefined } = { runtimeDiffers: undefined }
    const metricsUrl = watchMetricsUrl({ client, log, signal: ended })
    const stats = await createNodeStats({ loaded, nodeName, client, images, ports, ...inUse, ...linux })
    const facts = { loaded, inUse, proof: linux?.proof, node: linux?.node, runtime }
    const memoryQos =
      linux === undefined || inUse.driver === undefined || !runsPods(loaded)
        ? undefined
        : await createKubeletMemoryQos({
            ...linux,
            config: loaded.config,
            driver: inUse.driver,
            runtime: client,
            events,
            ports,
            signal: ended,
          })
    const pods =
      linux === undefined || inUse.driver === undefined
        ? undefined
        : startStaticPods({
            ...linux,
            memoryQos,
            config: loaded.config,
            driver: inUse.driver,
            nodeName,
            runtimeName: runtime.name,
            runtime: client,
            images,
            ports,
            signal: ended,
          })
    const server = await serve(
      () => ({ ...facts, ...seen, stats: stats.describe(), metricsUrl: metricsUrl() }),
      [
        ...statsEndpoints(stats),
        ...(pods?.endpoints ?? []),
        ...(memoryQos === undefined ? [] : [memoryQosEndpoint(memoryQos.memoryQos)]),
        ...dashboardOf(ports, {
          facts: () => ({ ...facts, ...seen }),
          nodeName,
          client,
          cgroups: linux?.cgroups,
          podRoots:
            inUse.driver === undefined
              ? []
              : podPaths(inUse.driver, loaded.config.kubelet.cgroupRoot ?? '/').podRoots,
          stats,
          memoryQos: memoryQos?.memoryQos,
          pods: pods === undefined ? undefined : () => pods.pods(),
          signal: ended,
        }),
      ],
      pods?.healthChecks ?? [],
      nodeName,
      ports,
      api,
    )
    if (server !== undefined) closers.push(() => server.close())

    const statsDone = stats.run(ended)
    const watchDone = watchRuntime({
      client,
      clock,
      log,
      timeoutMs,
      signal: ended,
      driver: inUse.driver,
      compares: asksRuntime(loaded) && inUse.driver !== undefined,
      inFallback: inUse.fallback !== undefined,
      onDifference: (driver) => {
        seen.runtimeDiffers = driver
      },
    })
    const done = Promise.all([watchDone, statsDone, pods?.done, memoryQos?.memoryQos.run()]).then(
      () => undefined,
    )
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
      done,
      async close() {
        await close()
        await done
      },
    }
  } catch (e) {
    await close()
    throw e
  }
}

/** Warnings are said even when problems end the start. */
function acceptConfig({ warnings, problems }: LoadedConfig, log: Log): void {
  for (const w of warnings)
    if (w.id === 'without-effect') log.info(formatFinding(w), { id: w.id })
    else log.warn(formatFinding(w), { id: w.id })
  if (problems.length > 0) throw configError(problems)
}

const openImages = (
  endpoint: string | undefined,
  client: CriClient,
  open: (where: string) => CriClient,
): CriClient => (endpoint === undefined || endpoint === client.endpoint ? client : open(endpoint))

async function openApi(
  kubeconfig: string | undefined,
  { log, openKubeApi }: Pick<KubeletPorts, 'log' | 'openKubeApi'>,
): Promise<KubeApi | undefined> {
  if (kubeconfig === undefined) {
    log.info('standalone: no --kubeconfig, so no API server is asked or told')
    return undefined
  }
  const api = await openKubeApi(kubeconfig)
  log.info(
    'the API server is used for TokenReview, SubjectAccessReview and Events; the node is not registered',
    {
      kubeconfig,
    },
  )
  return api
}

const dashboardOf = (
  ports: KubeletPorts,
  input: Omit<Parameters<typeof kubeletLive>[0], 'ports'>,
): readonly Endpoint[] => {
  const { live } = ports
  return live === undefined ? [] : kubeletLive({ ...input, ports: { ...ports, live } })
}

async function inspectNode(
  { loaded: { config }, endpoint }: KubeletConfigFiles,
  inUse: DriverInUse & { readonly driver: CgroupDriver },
  client: CriClient,
  ports: KubeletPorts,
  signal: AbortSignal,
  closers: Closer[],
): Promise<{ readonly node: NodeFacts; readonly proof: DriverProof; readonly cgroups: CgroupTree }> {
  const { log, procfs } = ports
  const { driver } = inUse
  const { tree: cgroups, close } = ports.openCgroups(driver)
  closers.push(close)
  const node = readNodeFacts({ ...ports, config, driver, cgroups })
  const evidence = await gatherEvidence({
    runtime: client.runtime,
    procfs,
    cgroups,
    cgroupRoot: config.kubelet.cgroupRoot,
    log,
    signal,
  })
  const proof = proveDriver({ ...evidence, inUse, endpoint, hostHasSystemd: node.systemd })
  reportProof(proof.findings, log)
  return { node, proof, cgroups }
}

async function serve(
  facts: () => ConfigzFacts,
  endpoints: readonly Endpoint[],
  healthChecks: readonly HealthCheck[],
  nodeName: string,
  ports: KubeletPorts,
  api: KubeApi | undefined,
): Promise<Awaited<ReturnType<KubeletPorts['serve']>> | undefined> {
  const { config } = facts().loaded
  if (!config.kubelet.enableServer) {
    ports.log.info('enableServer is false: nothing is served')
    return undefined
  }
  return ports.serve({
    settings: kubeletServeSettings(config, nodeName),
    endpoints,
    healthChecks,
    configz: () => kubeletConfigz(facts()),
    metrics: ports.metrics,
    log: ports.log,
    clock: ports.clock,
    ...(api === undefined ? {} : { api }),
  })
}

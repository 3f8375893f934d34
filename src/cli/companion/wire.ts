// The companion put together: machine, pods, settings, Memory QoS and its server.
import { hostname } from 'node:os'
import { createClock } from '../../adapters/clock/clock.js'
import { findKubeletStart } from '../../adapters/diagnosis/kubelet-process.js'
import { openKubeApi } from '../../adapters/kubeapi/open.js'
import type { LiveSetting } from '../../core/dashboard/model.js'
import { checkKernel } from '../../core/release/kernel-check.js'
import { bytes } from '../../core/units/bytes.js'
import { createCompanion } from '../../memory-qos/companion/companion.js'
import { companionInput } from '../../memory-qos/companion/node-input.js'
import type { Log } from '../../ports/log.js'
import { createKubeCalls } from '../../serve/kube-calls.js'
import { readConfig } from '../config-files.js'
import type { Io } from '../io.js'
import { createDaemonMetrics } from '../process/daemon-metrics.js'
import { version } from '../version.js'
import { eventsTo, openSource, readSettingsFile, settingsAsker } from './cluster.js'
import { serveCompanion } from './http.js'
import { mountedRecursive, openMachine, procfsOf } from './machine.js'
import type { CompanionCommandOptions } from './options.js'

/** A kubelet that starts resets values: they are restored within five seconds. */
const watchMs = 2_000

interface RunningCompanion {
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
  const { companion: policy } = config.keelson
  const nodeName = o.nodeName ?? io.env['NODE_NAME'] ?? hostname().toLowerCase()
  if (o.kubeletSkipVerify === true)
    log.warn(
      "--kubelet-skip-verify: the kubelet's certificate is not verified, so any listener at its address gets the token; use --kubelet-ca-file",
      { url: o.kubeletUrl },
    )
  const askSettings = settingsAsker(o, nodeName)
  const settings =
    askSettings === undefined ? await readSettingsFile(o.kubeletConfig ?? '', io) : await askSettings(signal)
  const machine = await openMachine(o, settings)
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  try {
    const procfs = procfsOf(o)
    const clock = createClock()
    const metrics = await createDaemonMetrics()
    const kubeApi =
      o.kubeconfig !== undefined || o.inCluster === true
        ? await openKubeApi({ kubeconfig: o.kubeconfig, log, version })
        : undefined
    const api = kubeApi === undefined ? undefined : createKubeCalls(kubeApi)
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
      source: openSource(o, nodeName, kubeApi, log),
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
      watchMs,
      findKubelet: () => findKubeletStart(o.procMount),
    })
    const served = await serveCompanion({
      ...machine,
      options: o,
      procfs,
      clock,
      log,
      metrics,
      api,
      nodeName,
      settings,
      memoryQos: companion.memoryQos,
      flags,
      config: config.keelson,
      origins,
      env: io.env,
      signal: ended,
    })
    log.info('companion started', {
      node: nodeName,
      cgroupDriver: machine.driver,
      policy: policy.memoryReservationPolicy,
      factor: policy.memoryThrottlingFactor,
      podsFrom: o.podsFrom,
      foundBefore: machine.found.cgroups.size,
      https: served?.server.listening,
      url: served?.server.url,
    })
    const done = Promise.all([companion.run(), served?.stats.run(ended)]).then(() => undefined)
    return {
      done,
      url: served?.server.url,
      async close() {
        stop.abort(new Error('the companion was closed'))
        await done.catch(() => undefined)
        await served?.server.close()
        await machine.close()
      },
    }
  } catch (e) {
    stop.abort(new Error('the companion did not start'))
    await machine.close()
    throw e
  }
}

// The companion's connections to the kubelet beside it and to the API server, and where its events go.
import { createClock } from '../../adapters/clock/clock.js'
import { createKubeletApi, createKubeletPods } from '../../adapters/kubeapi/kubelet-api.js'
import { createPodWatch } from '../../adapters/kubeapi/pod-watch.js'
import { readManifest } from '../../config/read-manifest.js'
import { keelsonError } from '../../core/errors.js'
import { createEventQueue } from '../../kubelet/events/event-queue.js'
import { type KubeletSettings, parseKubeletSettings } from '../../memory-qos/decide/kubelet-settings.js'
import type { MemoryQosEvent } from '../../memory-qos/report.js'
import type { KubeApi } from '../../ports/kube-api.js'
import type { KubeCalls } from '../../ports/kube-calls.js'
import type { Log } from '../../ports/log.js'
import type { PodSource } from '../../ports/pod-source.js'
import { readInput } from '../input.js'
import type { Io } from '../io.js'
import type { CompanionCommandOptions } from './options.js'

const maxConfigBytes = 4 * 1024 * 1024
const podsPeriodMs = 10_000

function kubeletOf(o: CompanionCommandOptions, nodeName: string) {
  return createKubeletApi({
    url: o.kubeletUrl,
    nodeName,
    ...(o.kubeletTokenFile === undefined ? {} : { tokenFile: o.kubeletTokenFile }),
    ...(o.kubeletCaFile === undefined ? {} : { caFiles: o.kubeletCaFile }),
    ...(o.kubeletCertFile === undefined ? {} : { certFile: o.kubeletCertFile }),
    ...(o.kubeletKeyFile === undefined ? {} : { keyFile: o.kubeletKeyFile }),
    ...(o.kubeletSkipVerify === undefined ? {} : { skipVerify: o.kubeletSkipVerify }),
  })
}

type AskSettings = (signal: AbortSignal) => Promise<KubeletSettings>

/** Reads the settings of a running kubelet; undefined when --kubelet-config names a file. */
export const settingsAsker = (o: CompanionCommandOptions, nodeName: string): AskSettings | undefined =>
  o.kubeletConfig === undefined
    ? async (signal) => parseKubeletSettings(await kubeletOf(o, nodeName).configz(signal))
    : undefined

export async function readSettingsFile(path: string, io: Io): Promise<KubeletSettings> {
  const [document] = readManifest(await readInput(path, maxConfigBytes, io))
  return parseKubeletSettings(document?.content)
}

export function openSource(
  o: CompanionCommandOptions,
  nodeName: string,
  api: KubeApi | undefined,
  log: Log,
): PodSource {
  if (o.podsFrom === 'kubelet')
    return createKubeletPods({
      api: kubeletOf(o, nodeName),
      clock: createClock(),
      log,
      periodMs: podsPeriodMs,
    })
  if (api === undefined)
    throw keelsonError('usage.invalid', '--pods-from api needs --kubeconfig or --in-cluster')
  return createPodWatch(api, nodeName)
}

export function eventsTo(
  api: KubeCalls | undefined,
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

// The request for a pod's sandbox, from the pod and from what the node knows at this moment.
import { keelsonError } from '../../../core/errors.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import type { DeepPartial, PodSandboxConfig } from '../../../cri-api/api.js'
import { kernelHostname, podNames } from '../../names/decide/hostname.js'
import { podResolvConf } from '../../names/decide/resolv-conf.js'
import type { PodContext } from '../context.js'
import { sandboxConfig } from '../to-cri/sandbox-config.js'

interface SandboxRequest {
  readonly config: DeepPartial<PodSandboxConfig>
  /** About the pod's DNS settings. */
  readonly warnings: readonly { readonly reason: string; readonly message: string }[]
}

export async function runSandbox(
  spec: PodSpec,
  attempt: number,
  manifest: string,
  c: PodContext,
  signal: AbortSignal,
): Promise<void> {
  const { config, warnings } = await sandboxRequest(spec, attempt, manifest, c)
  // A node without a cluster has no DNS of a cluster to miss.
  for (const { reason, message } of warnings)
    if (reason !== 'MissingClusterDNS' || c.objects !== undefined)
      c.events.pod(spec.pod, { type: 'Warning', reason, message })
  const runtimeHandler = await c.handlerOf(spec.runtimeClassName, signal)
  const options = { timeoutMs: c.timeoutMs, signal }
  await c.starts.run(() => c.runtime.runPodSandbox({ config, runtimeHandler }, options), signal)
}

export async function sandboxRequest(
  spec: PodSpec,
  attempt: number,
  manifest: string,
  c: Pick<PodContext, 'paths' | 'planner' | 'nodeResolvConf' | 'clusterDns' | 'identity'>,
): Promise<SandboxRequest> {
  const hostname = kernelHostname(podNames(spec, c.clusterDns.domain), spec.setHostnameAsFQDN)
  if ('problem' in hostname) throw keelsonError('pod.invalid', hostname.problem)
  const { warnings, ...dns } = podResolvConf(spec, await c.nodeResolvConf(), c.clusterDns)
  const config = sandboxConfig(spec, attempt, {
    paths: c.paths,
    cgroupParent: c.planner.podCgroup(spec).path,
    hostname: hostname.name,
    dns,
    identity: c.identity,
    manifest,
  })
  return { config, warnings }
}

// Specs that the upstream kubelet passes and Keelson does not yet, each with what it waits for. A run fails when a spec is
// missing from this list, and when one on it passes.
import type { GroupName } from './groups.js'

interface Waiting {
  readonly for: string
  readonly specs: readonly string[]
}

/** Groups that were not run yet. */
export const groupWaitsFor: Readonly<Partial<Record<GroupName, string>>> = {
  objects: 'volumes and environment from objects of the API server',
  lifecycle: 'probes and hooks',
  pressure: 'eviction',
  later: 'device plugins and other managers',
}

const networking = '[sig-network] Networking Granular Checks: Pods should function for'
const deleted =
  '[sig-node] Deleted pods handling Should transition to Succeeded phase a deleted pod when containers complete with 0 exit code Restart policy'
const standalone = '[sig-node] [Feature:StandaloneMode]'

export const waiting: readonly Waiting[] = [
  {
    for: 'probes and hooks; the pod is rejected because of one',
    specs: [
      `${networking} intra-pod communication: http [Conformance] [NodeConformance]`,
      `${networking} intra-pod communication: udp [Conformance] [NodeConformance]`,
      `${networking} node-pod communication: http [LinuxOnly] [Conformance] [NodeConformance]`,
      '[sig-network] Pod IPs when pod gets terminated should contain podIPs in status for during termination [NodeConformance]',
      `${deleted} Always [NodeConformance]`,
      `${deleted} Never [NodeConformance]`,
      `${deleted} OnFailure [NodeConformance]`,
      '[sig-node] Pods should support pod readiness gates [NodeConformance]',
    ],
  },
  {
    for: 'activeDeadlineSeconds; the manifest is refused because of it',
    specs: [
      '[sig-node] MirrorPod (Pod Generation) mirror pod updates mirror pod: update activeDeadlineSeconds [NodeConformance]',
    ],
  },
  {
    for: 'a restart of a static pod whose manifest is removed and written again at once; Keelson sees the same pod and leaves it running',
    specs: [
      '[sig-node] MirrorPod when create a mirror pod without changes should successfully recreate when file is removed and recreated [NodeConformance]',
    ],
  },
  {
    for: 'streams of containers (exec)',
    specs: [
      '[sig-node] Summary API when querying /stats/summary should report resource usage through the stats api [NodeConformance]',
    ],
  },
  {
    for: 'readiness probes; the manifest is refused because of one',
    specs: [
      `${standalone} when creating a static pod the pod should be running`,
      `${standalone} when creating a static pod the pod with the port on host network should be running and can be upgraded when the container name changes`,
      `${standalone} when creating a static pod and restarting kubelet the pod should be running and kubelet not panic [Serial]`,
    ],
  },
  {
    for: 'environment from files (fileKeyRef); the manifest is refused because of it',
    specs: [
      `${standalone} [FeatureGate:EnvFiles] when creating a static pod with EnvFiles the pod should be running and consume variables [Beta]`,
    ],
  },
  {
    for: 'restart rules of containers (restartPolicyRules); the manifest is refused because of them',
    specs: [
      '[sig-node] Pod Extended (RestartAllContainers) [Feature:StandaloneMode] [FeatureGate:ContainerRestartRules] [FeatureGate:RestartAllContainersOnContainerExits] should restart all containers on regular container exit [Beta] [FeatureGate:NodeDeclaredFeatures]',
    ],
  },
  {
    for: 'a new status.startTime after a restart of the kubelet; Keelson keeps the old one',
    specs: [
      `${standalone} when creating a static pod when the static pod has init container should be ready after init container is removed and kubelet restarts [Serial]`,
    ],
  },
]

const byName: ReadonlyMap<string, string> = new Map(
  waiting.flatMap((w) => w.specs.map((name) => [name, w.for] as const)),
)

export const waitsFor = (name: string): string | undefined => byName.get(name)

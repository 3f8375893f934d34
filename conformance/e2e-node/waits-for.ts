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

const standalone = '[sig-node] [Feature:StandaloneMode]'

export const waiting: readonly Waiting[] = [
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

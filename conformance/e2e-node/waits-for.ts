// Specs that the upstream kubelet passes and Keelson does not yet, each with what it waits for. A run fails when a spec is
// missing from this list, and when one on it passes.
import type { GroupName } from './groups.js'
import { quotaMonitoring } from './limits.js'

interface Waiting {
  readonly for: string
  readonly specs: readonly string[]
}

/** Groups of which nothing passes yet, or that were not run. */
export const groupWaitsFor: Readonly<Partial<Record<GroupName, string>>> = {
  later: 'device plugins and other managers, which Keelson does not have',
}

export const waiting: readonly Waiting[] = [
  {
    for: 'user namespaces (hostUsers: false), which Keelson does not have',
    specs: [quotaMonitoring('false', 'true')],
  },
  {
    for: 'a container whose image changes while a failed probe restarts it, under restartPolicy OnFailure',
    specs: ['liveness', 'startup'].map(
      (probe) =>
        `[sig-node] Containers Lifecycle when A pod is running only regular containers when The regular container has its image updated after a failed ${probe} probe should update the image when restartPolicy=OnFailure [NodeConformance]`,
    ),
  },
  {
    for: 'a restart of a static pod whose manifest is removed and written again at once; Keelson sees the same pod and leaves it running',
    specs: [
      '[sig-node] MirrorPod when create a mirror pod without changes should successfully recreate when file is removed and recreated [NodeConformance]',
    ],
  },
  {
    for: 'system containers of kubelet, runtime and misc in the summary, and PSI on cgroup v1, which upstream shows as 0',
    specs: [
      '[sig-node] Summary API when querying /stats/summary should report resource usage through the stats api [NodeConformance]',
    ],
  },
]

const byName: ReadonlyMap<string, string> = new Map(
  waiting.flatMap((w) => w.specs.map((name) => [name, w.for] as const)),
)

export const waitsFor = (name: string): string | undefined => byName.get(name)

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
  pressure: 'eviction',
  later: 'device plugins and other managers',
}

export const waiting: readonly Waiting[] = [
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
]

const byName: ReadonlyMap<string, string> = new Map(
  waiting.flatMap((w) => w.specs.map((name) => [name, w.for] as const)),
)

export const waitsFor = (name: string): string | undefined => byName.get(name)

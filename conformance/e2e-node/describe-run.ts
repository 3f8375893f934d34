// A run of a suite in words: what is worth showing while it goes on, and its results with the versions that took part.
import { readFile } from 'node:fs/promises'
import { availableParallelism, release } from 'node:os'
import { join } from 'node:path'
import type { Place, RuntimeName } from '../node-environment/plan.js'
import type { KubeletName } from '../node-environment/programs.js'
import { readHierarchies } from '../node-environment/start.js'
import { readPinnedVersion } from '../peers/build.js'
import { peerOf } from '../peers/catalogue.js'
import { parseResults } from './report.js'
import type { Results } from './results.js'
import { isStandalone, type ListedSpec } from './specs.js'

/** ginkgo's output is long; its own summary and the environment's words are enough to follow. */
export function followProgress(note: (line: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines)
      if (
        /^(node ready|node environment:|control plane ready|cluster ready|cluster:|Ran \d+ of|(SUCCESS|FAIL)!|.*\[FAIL\])/.test(
          line,
        )
      )
        note(line)
  }
}

async function readKeelsonVersion(): Promise<string> {
  const text = await readFile(join(import.meta.dirname, '../../package.json'), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}

export async function describeRun(
  suite: 'e2e' | 'e2e-node',
  o: { readonly kubelet: KubeletName; readonly runtime: RuntimeName; readonly place?: Place },
  specs: readonly ListedSpec[],
  report: string,
): Promise<Results> {
  const results = parseResults(report, specs)
  const kubernetes = await readPinnedVersion(peerOf('kubelet'))
  const cgroups = (await readHierarchies()).some((h) => h.name === '') ? 'v2' : 'v1'
  const containerd =
    o.runtime === 'containerd-2' ? await readPinnedVersion(peerOf('containerd')) : 'v1.6 (Debian)'
  return {
    suite: `${peerOf(suite).command} ${kubernetes}`,
    kubelet: o.kubelet === 'upstream' ? `kubelet ${kubernetes}` : `keelson ${await readKeelsonVersion()}`,
    runtime: `containerd ${containerd}`,
    machine:
      o.place === 'uml'
        ? 'UML lab machine, cgroup v2, 1 CPU'
        : `Linux ${release()}, cgroup ${cgroups}, ${availableParallelism()} CPUs`,
    specs: Object.fromEntries(
      specs.map((s) => {
        const result = results.get(s.name) ?? { outcome: 'not run' as const }
        return [s.name, { group: isStandalone(s) ? ('standalone' as const) : s.group, ...result }]
      }),
    ),
  }
}

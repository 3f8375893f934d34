// The kubelet of a node is changed under its running pods, upstream's and Keelson's, and killed at random moments while pods
// come and go.
import { join } from 'node:path'
import { missingForCluster } from '../cluster/prepare.js'
import { keepFlag, runChecks } from '../cluster/run-checks.js'
import { clusterPeers } from '../cluster/start-cluster.js'
import { insideDirectory } from '../node-environment/plan.js'
import { inCache } from '../node-environment/programs.js'
import type { Unit, UnitContext } from '../unit.js'

async function run(context: UnitContext): Promise<void> {
  const number = (name: string, otherwise: string): string => String(context.options[name] ?? otherwise)
  await runChecks(context, {
    program: join(import.meta.dirname, '..', 'kubelet-swap', 'inside.ts'),
    args: [
      inCache(context.peer('kubelet')),
      join(insideDirectory, 'bin/kubelet'),
      number('pods', '30'),
      number('kills', '10'),
    ],
    keep: context.options['keep'] === undefined ? undefined : String(context.options['keep']),
    checks: 7,
  })
}

export const kubeletSwap: Unit = {
  name: 'kubelet-swap',
  summary:
    'upstream kubelet to Keelson and back under running pods; the kubelet is killed while pods come and go',
  onlyByName: true,
  peers: clusterPeers,
  options: {
    pods: { type: 'string', summary: 'how many pods run during the change (default 30)' },
    kills: { type: 'string', summary: 'how often the kubelet is killed (default 10)' },
    keep: keepFlag,
  },
  missing: missingForCluster,
  run,
}

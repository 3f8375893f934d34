// Containers of a real containerd mount a part of a volume while processes swap it for links out of the volume.
import { join } from 'node:path'
import { missingForCluster } from '../cluster/prepare.js'
import { keepFlag, runChecks } from '../cluster/run-checks.js'
import { clusterPeers } from '../cluster/start-cluster.js'
import { type Unit, type UnitContext, UsageError } from '../unit.js'

const checks = 3

function containersOf({ options }: Pick<UnitContext, 'options'>): string {
  const text = String(options['containers'] ?? '100')
  if (!/^\d{1,3}$/.test(text)) throw new UsageError(`--containers ${text}: give a whole number below 1000`)
  return text
}

const run = (context: UnitContext): Promise<void> =>
  runChecks(context, {
    program: join(import.meta.dirname, '..', 'subpath-attack', 'inside.ts'),
    args: [containersOf(context)],
    keep: context.options['keep'] === undefined ? undefined : String(context.options['keep']),
    checks,
  })

export const subPathAttack: Unit = {
  name: 'subpath-attack',
  summary: 'containers start with a subPath while processes swap it for links out of the volume',
  onlyByName: true,
  peers: clusterPeers,
  options: {
    containers: { type: 'string', summary: 'how many containers start (default 100)' },
    keep: keepFlag,
  },
  checkOptions: (options) => void containersOf({ options }),
  missing: missingForCluster,
  run,
}

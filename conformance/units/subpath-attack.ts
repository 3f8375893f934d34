// Containers of a real containerd mount a part of a volume while processes swap it for links out of the volume.
import { join } from 'node:path'
import { missingForCluster, prepareCluster } from '../cluster/prepare.js'
import { clusterPeers, startCluster } from '../cluster/start-cluster.js'
import { insideDirectory } from '../node-environment/plan.js'
import type { Unit, UnitContext } from '../unit.js'

const checks = 3

async function run(context: UnitContext): Promise<void> {
  const settings = { kubelet: 'keelson', runtime: 'containerd-2', auditLog: false, port: 0 } as const
  const request = await prepareCluster(context, { ...settings, proxy: false, dns: false })
  const told: { readonly name: string; readonly problem?: string }[] = []
  let rest = ''
  const cluster = await startCluster({
    ...request,
    program: join(import.meta.dirname, '..', 'subpath-attack', 'inside.ts'),
    argv: [
      process.execPath,
      join(insideDirectory, 'program.mjs'),
      String(context.options['containers'] ?? '100'),
    ],
    onOutput(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        if (line.startsWith('check ')) told.push(JSON.parse(line.slice('check '.length)) as (typeof told)[0])
        else context.note(line)
    },
  })
  context.defer(() => cluster.close())
  const status = await cluster.ended
  for (const { name, problem } of told)
    await context.check(name, async () => {
      if (problem !== undefined) throw new Error(problem)
    })
  await context.check('the run came to its end', async () => {
    if (status !== 0 || told.length !== checks)
      throw new Error(`status ${status} after ${told.length} checks`)
  })
}

export const subPathAttack: Unit = {
  name: 'subpath-attack',
  summary: 'containers start with a subPath while processes swap it for links out of the volume',
  onlyByName: true,
  peers: clusterPeers,
  options: { containers: { type: 'string', summary: 'how many containers start (default 100)' } },
  missing: missingForCluster,
  run,
}

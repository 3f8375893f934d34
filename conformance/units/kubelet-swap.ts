// The kubelet of a node is changed under its running pods, upstream's and Keelson's, and killed at random moments while pods
// come and go.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { missingForCluster, prepareCluster } from '../cluster/prepare.js'
import { clusterPeers, startCluster } from '../cluster/start-cluster.js'
import { insideDirectory } from '../node-environment/plan.js'
import { inCache } from '../node-environment/programs.js'
import type { Unit, UnitContext } from '../unit.js'

interface Told {
  readonly name: string
  readonly problem?: string
}

async function run(context: UnitContext): Promise<void> {
  const settings = { kubelet: 'keelson', runtime: 'containerd-2', auditLog: false, port: 0 } as const
  const request = await prepareCluster(context, { ...settings, proxy: false, dns: false })
  const number = (name: string, otherwise: string): string => String(context.options[name] ?? otherwise)
  const told: Told[] = []
  let rest = ''
  const cluster = await startCluster({
    ...request,
    program: join(import.meta.dirname, '..', 'kubelet-swap', 'inside.ts'),
    argv: [
      process.execPath,
      join(insideDirectory, 'program.mjs'),
      inCache(context.peer('kubelet')),
      join(insideDirectory, 'bin/kubelet'),
      number('pods', '30'),
      number('kills', '10'),
    ],
    onOutput(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines)
        if (line.startsWith('check ')) told.push(JSON.parse(line.slice('check '.length)) as Told)
        else context.note(line)
    },
  })
  context.defer(() => cluster.close())
  const status = await cluster.ended
  for (const { name, problem } of told)
    await context.check(name, async () => {
      if (problem !== undefined) throw new Error(problem)
    })
  const failed = status !== 0 || told.some(({ problem }) => problem !== undefined)
  if (failed)
    for (const file of await readdir(cluster.out))
      if (file.startsWith('kubelet-')) {
        const lines = (await readFile(join(cluster.out, file), 'utf8')).split('\n')
        for (const line of lines.filter((l) => /^[WE]\d/.test(l)).slice(-30)) context.note(`${file}: ${line}`)
      }
  await context.check('the run came to its end', async () => {
    if (status !== 0 || told.length < 7) throw new Error(`status ${status} after ${told.length} checks`)
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
  },
  missing: missingForCluster,
  run,
}

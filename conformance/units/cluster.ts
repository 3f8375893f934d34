// A control plane with one node that stays until Ctrl-C: to try things by hand, with any client.
import { clusterFlags, parseClusterOptions, requireFreePort } from '../cluster/options.js'
import { missingForCluster, prepareCluster } from '../cluster/prepare.js'
import { clusterPeers, startCluster } from '../cluster/start-cluster.js'
import { watchOutput } from '../cluster/watch-output.js'
import type { Unit, UnitContext } from '../unit.js'

async function run(context: UnitContext): Promise<void> {
  const request = await prepareCluster(context, parseClusterOptions(context.options))
  const { onOutput, ready } = watchOutput(context.note)
  const cluster = await startCluster({ ...request, argv: [], onOutput })
  context.defer(() => cluster.close())
  const ended = cluster.ended.then((status) => {
    throw new Error(`the cluster ended with status ${status}`)
  })
  ended.catch(() => {}) // also while nobody waits
  const up = await context.check('the node is ready', () => Promise.race([ready, ended]))
  if (!up) return
  context.note(`export KUBECONFIG=${cluster.kubeconfig}`)
  context.note(`${context.peer('kubectl')} get nodes -o wide`)
  context.note(`logs: ${cluster.out}`)
  context.note('Ctrl-C ends the cluster and removes everything')
  await Promise.race([context.untilStopped(), ended])
  context.note('the cluster is removed')
}

export const cluster: Unit = {
  name: 'cluster',
  summary: 'a control plane with one node that stays until Ctrl-C, and a kubeconfig for it',
  onlyByName: true,
  peers: [...clusterPeers, 'kubectl'],
  options: clusterFlags,
  checkOptions: async (options) => await requireFreePort(parseClusterOptions(options).port),
  missing: missingForCluster,
  run,
}

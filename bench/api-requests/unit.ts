// `api-requests`: what a node at rest asks of its API server, Keelson beside the upstream kubelet, counted in the audit log
// of a real control plane. Both clusters run at the same time. As root; about 13 minutes.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { nodeUser } from '../../conformance/cluster/certificates.js'
import { readyLine } from '../../conformance/cluster/plan.js'
import { missingForCluster } from '../../conformance/cluster/prepare.js'
import {
  type Cluster,
  clusterPeers,
  nodeName,
  startCluster,
} from '../../conformance/cluster/start-cluster.js'
import { type KubeletName, kubelets } from '../../conformance/node-environment/programs.js'
import { type BenchPeers, buildBenchPeers } from '../peers.js'
import { atMost, type BenchReport, type BenchUnit } from '../unit.js'
import { countRequests, sumOf } from './audit.js'

const SETTLE_MS = 60_000
/** Two unchanged reports of the status, and each watch at least once. */
const minutes = Number(process.env.API_REQUESTS_MINUTES ?? 10)
const READY_MS = 300_000
const log = (line: string): void => console.error(`api-requests: ${line}`)

async function start(kubelet: KubeletName, peers: BenchPeers): Promise<Cluster> {
  let output = ''
  const cluster = await startCluster({
    kubelet,
    runtime: 'containerd-2',
    auditLog: true,
    port: 0,
    ...peers,
    argv: [],
    onOutput: (text) => {
      output = (output + text).slice(-10_000)
    },
    leftovers: [],
  })
  const deadline = Date.now() + READY_MS
  while (!output.includes(readyLine)) {
    if (Date.now() > deadline) {
      await cluster.close()
      throw new Error(`the node of ${kubelet} is not ready: ${output}`)
    }
    await sleep(500)
  }
  return cluster
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const missing = missingForCluster()
  if (missing !== undefined) throw new Error(missing)
  const peers = await buildBenchPeers(clusterPeers, log)
  const clusters: (readonly [KubeletName, Cluster])[] = []
  try {
    for (const kubelet of kubelets) clusters.push([kubelet, await start(kubelet, peers)])
    await sleep(SETTLE_MS, undefined, { signal })
    const from = Date.now()
    await sleep(minutes * 60_000, undefined, { signal })
    const to = Date.now()
    const counted = new Map<KubeletName, ReadonlyMap<string, number>>()
    for (const [kubelet, { out }] of clusters) {
      const text = await readFile(join(out, 'cluster/audit.log'), 'utf8')
      counted.set(kubelet, countRequests(text, nodeUser(nodeName).user, from, to))
    }
    return report(counted.get('upstream') ?? new Map(), counted.get('keelson') ?? new Map())
  } finally {
    for (const [, cluster] of clusters) await cluster.close()
  }
}

function report(upstream: ReadonlyMap<string, number>, keelson: ReadonlyMap<string, number>): BenchReport {
  const perMinute = (n: number): string => (n / minutes).toFixed(2)
  const keys = [...new Set([...upstream.keys(), ...keelson.keys()])].sort()
  return {
    file: 'api-requests',
    title: 'Requests of a node at rest to its API server',
    method: `Two clusters at the same time, each a real control plane and one node without pods: one with the upstream kubelet 1.37.1, one with Keelson. One minute after both are ready, the requests of the node's user in the audit log are counted for ${minutes} minutes. A watch counts when it begins.`,
    columns: ['requests per minute', 'upstream', 'Keelson'],
    rows: [
      ...keys.map((key) => [key, perMinute(upstream.get(key) ?? 0), perMinute(keelson.get(key) ?? 0)]),
      ['all', perMinute(sumOf(upstream)), perMinute(sumOf(keelson))],
    ],
    targets: [atMost('requests at rest, against the upstream kubelet', sumOf(keelson) / sumOf(upstream), 1)],
  }
}

export const apiRequests: BenchUnit = {
  name: 'api-requests',
  summary: 'requests of a node at rest to its API server, beside the upstream kubelet (13 min, root)',
  run,
}

// `volumes`: a kubelet at rest with 110 pods of five volumes each, Keelson beside the upstream kubelet: processor time, watches
// at the API server, connections, and how long a changed config map takes to the pod's file. Two clusters of a real control
// plane, containerd and one node run at the same time and are measured in the same minutes. As root; about 12 minutes.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { missingForCluster } from '../../conformance/cluster/prepare.js'
import { type Cluster, clusterPeers, startCluster } from '../../conformance/cluster/start-cluster.js'
import { insideDirectory } from '../../conformance/node-environment/plan.js'
import { type KubeletName, kubelets } from '../../conformance/node-environment/programs.js'
import { type BenchPeers, buildBenchPeers } from '../peers.js'
import { atMost, type BenchReport, type BenchUnit } from '../unit.js'
import type { VolumesResult } from './result.js'

const PODS = 110
/** Each pod has a config map and a secret of its own. */
const OBJECTS = PODS * 2
const CHANGE_LIMIT_S = 90
const SETTLE_MS = 60_000
const seconds = Number(process.env.VOLUMES_SECONDS ?? 120)
const STARTED_MS = 900_000
const log = (line: string): void => console.error(`volumes: ${line}`)

interface Node {
  readonly cluster: Cluster
  readonly output: () => string
  /** Rejects when the cluster ends before the text is there. */
  said(text: string, timeoutMs: number): Promise<void>
}

async function start(kubelet: KubeletName, peers: BenchPeers): Promise<Node> {
  let output = ''
  let ended: number | undefined
  const cluster = await startCluster({
    kubelet,
    runtime: 'containerd-2',
    auditLog: false,
    port: 0,
    ...peers,
    program: join(import.meta.dirname, 'inside.ts'),
    argv: [
      process.execPath,
      join(insideDirectory, 'program.mjs'),
      String(PODS),
      String(seconds),
      join(insideDirectory, 'out/go'),
    ],
    onOutput: (text) => {
      output = (output + text).slice(-20_000)
    },
    leftovers: [],
  })
  void cluster.ended.then((code) => {
    ended = code
  })
  return {
    cluster,
    output: () => output,
    async said(text, timeoutMs) {
      for (const end = Date.now() + timeoutMs; !output.includes(text); await sleep(500))
        if (ended !== undefined || Date.now() > end)
          throw new Error(`${kubelet}: no '${text}' (status ${ended}): ${output.slice(-3000)}`)
    },
  }
}

async function run(signal: AbortSignal): Promise<BenchReport> {
  const missing = missingForCluster()
  if (missing !== undefined) throw new Error(missing)
  const peers = await buildBenchPeers(clusterPeers, log)
  const nodes: Node[] = []
  try {
    // One after the other: the start of 110 pods needs every core.
    for (const kubelet of kubelets) {
      const node = await start(kubelet, peers)
      nodes.push(node)
      await node.said('pods run\n', STARTED_MS)
      log(`${kubelet}: ${PODS} pods run`)
    }
    await sleep(SETTLE_MS, undefined, { signal })
    for (const { cluster } of nodes) await writeFile(join(cluster.out, 'go'), '')
    const results: VolumesResult[] = []
    for (const node of nodes) {
      await node.said('result ', (seconds + 300) * 1000)
      await sleep(1_000)
      const line = node.output().slice(node.output().indexOf('result ') + 'result '.length)
      results.push(JSON.parse(line.slice(0, line.indexOf('\n'))) as VolumesResult)
    }
    const byName = new Map(kubelets.map((name, i) => [name, results[i]]))
    const [upstream, keelson] = [byName.get('upstream'), byName.get('keelson')]
    if (upstream === undefined || keelson === undefined) throw new Error('a result is missing')
    return report(upstream, keelson)
  } finally {
    for (const { cluster } of nodes) await cluster.close()
  }
}

function report(upstream: VolumesResult, keelson: VolumesResult): BenchReport {
  const share = ({ cpuS }: VolumesResult): string => `${((cpuS / seconds) * 100).toFixed(2)} %`
  const row = (name: string, show: (r: VolumesResult) => string): string[] => [
    name,
    show(upstream),
    show(keelson),
  ]
  return {
    file: 'volumes',
    title: `A kubelet at rest with ${PODS} pods of five volumes each`,
    method: `Two clusters at the same time, each a real control plane, containerd and one node with ${PODS} pods: one with the upstream kubelet 1.37.1, one with Keelson. Each pod has a config map and a secret of its own, fields of the pod, a token and an emptyDir. One minute after all of them run, the processor time of the two kubelets is counted in the same ${seconds} s. Then the API server is asked how many more watches of single config maps and secrets it serves than before the pods, and a config map is changed.`,
    columns: ['', 'upstream', 'Keelson'],
    rows: [
      row('processor time of the kubelet, of one core', share),
      row('resident memory of the kubelet', ({ rssMiB }) => `${rssMiB.toFixed(0)} MiB`),
      row(`watches of ${OBJECTS} config maps and secrets`, ({ watches }) => String(watches)),
      row('connections to the API server', ({ connections }) => String(connections)),
      row('a changed config map is in the file after', ({ changeS }) => `${changeS.toFixed(1)} s`),
    ],
    targets: [
      atMost('processor time at rest, against the upstream kubelet', keelson.cpuS / upstream.cpuS, 1),
      {
        name: 'one watch for each object',
        measured: String(keelson.watches),
        limit: String(OBJECTS),
        met: keelson.watches === OBJECTS,
      },
      {
        name: 'a changed config map reaches the file',
        measured: `${keelson.changeS.toFixed(1)} s`,
        limit: `<= ${CHANGE_LIMIT_S} s`,
        met: keelson.changeS <= CHANGE_LIMIT_S,
      },
    ],
  }
}

export const volumes: BenchUnit = {
  name: 'volumes',
  summary: '110 pods with five volumes each at rest, beside the upstream kubelet (12 min, root)',
  run,
}

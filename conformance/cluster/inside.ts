// The program that a node environment runs for a cluster, bundled to one file: control plane and node, then the plan's
// command, or nothing until the environment is ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { insideDirectory, nodeAddress } from '../node-environment/plan.js'
import { administrator, startControlPlane } from './control-plane.js'
import { forward } from './forward.js'
import { type NodeOptions, startCoreDns, startKubelet, startKubeProxy } from './node.js'
import {
  apiSocket,
  type ClusterPlan,
  hostKubeconfig,
  insideAdmin,
  insideCluster,
  insidePlan,
  readyLine,
} from './plan.js'

const API_PORT = 6443

async function runCommand(argv: readonly string[]): Promise<number> {
  const [command = '', ...args] = argv
  const env = { ...process.env, KUBECONFIG: insideAdmin }
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function main(): Promise<number> {
  const plan = JSON.parse(await readFile(insidePlan, 'utf8')) as ClusterPlan
  const started = Date.now()
  const plane = await startControlPlane({
    binaries: plan.binaries,
    directory: insideCluster,
    address: nodeAddress,
    port: API_PORT,
    auditLog: plan.auditLog,
  })
  await plane.issueKubeconfig({
    ...administrator,
    name: basename(hostKubeconfig, '.kubeconfig'),
    server: plan.hostUrl,
  })
  await forward({ path: join(insideDirectory, apiSocket) }, { host: nodeAddress, port: API_PORT })
  const seconds = (): string => ((Date.now() - started) / 1000).toFixed(1)
  process.stdout.write(`control plane ready after ${seconds()} s\n`)
  const node: NodeOptions = {
    plane,
    nodeName: plan.nodeName,
    directory: insideCluster,
    dns: plan.coreDns === undefined ? undefined : nodeAddress,
  }
  if (plan.coreDns !== undefined) await startCoreDns(node, plan.coreDns)
  if (plan.kubeProxy !== undefined) await startKubeProxy(node, plan.kubeProxy)
  await startKubelet(node, join(insideDirectory, 'bin/kubelet'))
  process.stdout.write(`${readyLine} after ${seconds()} s\n`)
  if (plan.argv.length > 0) return await runCommand(plan.argv)
  return await new Promise<never>(() => {})
}

try {
  process.exitCode = await main()
} catch (e) {
  process.stderr.write(`cluster: ${e instanceof Error ? e.message : String(e)}\n`)
  process.exitCode = 70
}
// Open sockets must not hold the end back: the namespaces end everything.
process.exit()

// Runs the phases of a real kubeadm on a private root, as far as they go without systemd.
import { readFile } from 'node:fs/promises'
import type { ControlPlane } from '../cluster/control-plane.js'
import { runCommand } from '../process.js'
import {
  type DocumentContext,
  formatInitDocuments,
  formatJoinDocument,
  formatResetDocument,
  formatUpgradeDocument,
  nodeName,
} from './documents.js'
import type { PrivateRoot } from './private-root.js'
import type { Scenario } from './scenario.js'

const TIMEOUT_MS = 60_000

// Paths inside the root.
export const places = {
  // Not kubeadm's own place: for that one it would call the advertised address of the documents.
  admin: '/etc/keelson-conformance/admin.conf',
  kubelet: '/etc/kubernetes/kubelet.conf',
  config: '/etc/keelson-conformance/config.yaml',
}

export interface NodeRun {
  readonly binary: string
  readonly root: PrivateRoot
  readonly server: ControlPlane
  readonly context: DocumentContext
}

async function kubeadm({ binary, root }: NodeRun, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommand(binary, [...args, '--rootfs', root.path], {
    timeoutMs: TIMEOUT_MS,
  })
  return stdout + stderr
}

/** The ConfigMaps as the kubeadm of that minor uploads them: the ground on which both tools join and upgrade. */
export async function uploadCluster(run: NodeRun, scenario: Scenario): Promise<void> {
  const { criSocket: _, ...cluster } = scenario
  const documents = formatInitDocuments(cluster, { ...run.context, patches: undefined })
  await run.root.write(places.config, documents)
  const flags = ['--config', places.config, '--kubeconfig', places.admin]
  await kubeadm(run, ['init', 'phase', 'upload-config', 'kubeadm', ...flags])
  await kubeadm(run, ['init', 'phase', 'upload-config', 'kubelet', ...flags])
}

/** Every command line of a scenario, in kubeadm's own order. */
export async function runWithKubeadm(run: NodeRun, scenario: Scenario): Promise<string> {
  const config = ['--config', places.config]
  const api = ['--kubeconfig', places.admin]
  const output: string[] = []
  const go = async (...args: string[]) => void output.push(await kubeadm(run, args))
  switch (scenario.command) {
    case 'init':
      await run.root.write(places.config, formatInitDocuments(scenario, run.context))
      await go('init', 'phase', 'kubelet-start', ...config)
      await go('init', 'phase', 'upload-config', 'kubeadm', ...config, ...api)
      await go('init', 'phase', 'upload-config', 'kubelet', ...config, ...api)
      break
    case 'join':
      await run.root.write(places.config, formatJoinDocument(scenario, places.admin, run.context))
      await go('join', '--skip-phases', 'preflight', ...config)
      break
    case 'upgrade node':
      await run.root.write(places.config, formatUpgradeDocument(run.context))
      await go('upgrade', 'node', 'phase', 'kubelet-config', ...config, ...api)
      break
    case 'upgrade apply':
      await run.root.write(places.config, formatUpgradeDocument(run.context))
      await go('upgrade', 'apply', 'phase', 'upload-config', 'all', ...config, ...api)
      await go('upgrade', 'apply', 'phase', 'kubelet-config', ...config, ...api)
      break
    case 'reset':
      await run.root.write(places.config, formatResetDocument(scenario))
      await go('reset', '--skip-phases', 'preflight,remove-etcd-member', ...config, ...api)
      break
  }
  return output.join('')
}

/** Credentials inside the root: an administrator, and the kubelet by whose user kubeadm learns the node's name. */
export async function placeCredentials(root: PrivateRoot, server: ControlPlane): Promise<void> {
  await root.write(places.admin, await readFile(server.kubeconfig, 'utf8'))
  await root.write(places.kubelet, await readFile(await server.issueNodeKubeconfig(nodeName), 'utf8'))
}

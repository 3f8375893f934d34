// The machine that becomes a control plane: the service of the kubelet as kubeadm's package installs it, and `kubeadm init`.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { insideDirectory, nodeAddress, podSubnet, runtimeSocket } from '../node-environment/plan.js'
import { installUnit } from '../node-environment/systemd-stand-ins.js'
import { type CommandResult, runCommand } from '../process.js'
import { type Component, type InitPlan, nodeName } from './plan.js'

const out = join(insideDirectory, 'out')
const adminKubeconfig = '/etc/kubernetes/admin.conf'
const kubeadmApi = 'kubeadm.k8s.io/v1beta4'
const INIT_MS = 8 * 60_000

/** The drop-in of kubeadm's package: flags from the file that kubeadm writes. */
const kubeletCommand = `. /var/lib/kubelet/kubeadm-flags.env
exec ${insideDirectory}/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \\
  --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS`

export const installKubelet = (): Promise<void> =>
  installUnit({ unit: 'kubelet', log: join(out, 'kubelet.log'), argv: ['sh', '-c', kubeletCommand] })

export const systemctl = (verb: 'restart' | 'start'): Promise<CommandResult> =>
  runCommand('systemctl', [verb, 'kubelet'], { timeoutMs: 60_000 })

export const kubeletPid = async (): Promise<number> =>
  Number(await readFile('/run/units/kubelet/pid', 'utf8'))

const documents = (version: string): readonly unknown[] => [
  {
    apiVersion: kubeadmApi,
    kind: 'InitConfiguration',
    localAPIEndpoint: { advertiseAddress: nodeAddress, bindPort: 6443 },
    nodeRegistration: { name: nodeName, criSocket: `unix://${runtimeSocket}` },
  },
  {
    apiVersion: kubeadmApi,
    kind: 'ClusterConfiguration',
    kubernetesVersion: version,
    networking: { podSubnet },
  },
  {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // This host is not one of a cluster: cgroup v1, swap and a rather full disk are its own affair.
    failCgroupV1: false,
    failSwapOn: false,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
  },
]

/** All phases but the add-ons, whose images are not made here. */
export async function initialize({ kubeadm, version }: InitPlan): Promise<void> {
  const config = join(out, 'init.yaml')
  await writeFile(
    config,
    documents(version)
      .map((d) => stringify(d))
      .join('---\n'),
  )
  const skip = '--skip-phases=addon'
  const args = ['init', '--config', config, '--ignore-preflight-errors=all', skip, '--v=1']
  const { stdout, stderr } = await runCommand(kubeadm, args, { timeoutMs: INIT_MS })
  await writeFile(join(out, 'kubeadm.log'), `${stdout}\n${stderr}`)
}

export async function kubectl(
  { kubectl: command }: InitPlan,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const { stdout } = await runCommand(command, ['--request-timeout=10s', ...args], {
    timeoutMs: 30_000,
    env: { ...process.env, KUBECONFIG: adminKubeconfig },
    ...(input === undefined ? {} : { input }),
  })
  return stdout
}

export const manifestOf = (component: Component): string => `/etc/kubernetes/manifests/${component}.yaml`

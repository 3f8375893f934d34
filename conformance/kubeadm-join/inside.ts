// Inside a node environment: a control plane, then a real `kubeadm join` of this machine. The kubelet is started when kubeadm
// has written its files, as systemd would do it with kubeadm's drop-in.
import { spawn } from 'node:child_process'
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, openSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { type ControlPlane, startControlPlane } from '../cluster/control-plane.js'
import { insideDirectory, nodeAddress, runtimeSocket } from '../node-environment/plan.js'
import { insideJoinPlan, type JoinPlan, type JoinReport, joinReport, nodeName } from './plan.js'

const API_PORT = 6443
const token = 'abcdef.0123456789abcdef'
const out = join(insideDirectory, 'out')
const flagsFile = '/var/lib/kubelet/kubeadm-flags.env'
const kubeadmApi = 'kubeadm.k8s.io/v1beta4'

interface Ran {
  readonly status: number
  readonly output: string
}

async function run(command: string, args: readonly string[]): Promise<Ran> {
  const env = { ...process.env, PATH: `${insideDirectory}/bin:${process.env.PATH}` }
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let output = ''
  child.stdout.on('data', (d: Buffer) => {
    output += d.toString()
  })
  child.stderr.on('data', (d: Buffer) => {
    output += d.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { status: code ?? 1, output }
}

const documents = (list: readonly unknown[]): string => list.map((d) => stringify(d)).join('---\n')

/** What `kubeadm init` leaves in a cluster for those who join: configuration, token, cluster-info and the rights for both. */
async function uploadCluster({ kubeadm, version }: JoinPlan, plane: ControlPlane): Promise<void> {
  const config = join(out, 'init.yaml')
  await writeFile(
    config,
    documents([
      {
        apiVersion: kubeadmApi,
        kind: 'InitConfiguration',
        bootstrapTokens: [{ token }],
        localAPIEndpoint: { advertiseAddress: nodeAddress, bindPort: API_PORT },
        nodeRegistration: { name: 'control-plane', criSocket: `unix://${runtimeSocket}` },
      },
      { apiVersion: kubeadmApi, kind: 'ClusterConfiguration', kubernetesVersion: version },
      {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        // This host is not one of a cluster: cgroup v1 and swap are its own affair.
        failCgroupV1: false,
        failSwapOn: false,
      },
    ]),
  )
  for (const phase of [['upload-config', 'all'], ['bootstrap-token']]) {
    const args = ['init', 'phase', ...phase, '--config', config, '--kubeconfig', plane.kubeconfig]
    const { status, output } = await run(kubeadm, args)
    if (status !== 0) throw new Error(`kubeadm ${args.join(' ')}: ${output.slice(-2000)}`)
  }
}

/** The flags of kubeadm's drop-in for the unit kubelet.service. */
async function startKubelet(): Promise<void> {
  while (!existsSync(flagsFile) || !existsSync('/var/lib/kubelet/config.yaml')) await sleep(100)
  const flags = /KUBELET_KUBEADM_ARGS="(.*)"/.exec(await readFile(flagsFile, 'utf8'))?.[1] ?? ''
  const log = openSync(join(out, 'kubelet.log'), 'a')
  spawn(
    join(insideDirectory, 'bin/kubelet'),
    [
      '--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf',
      '--kubeconfig=/etc/kubernetes/kubelet.conf',
      '--config=/var/lib/kubelet/config.yaml',
      ...flags.split(' ').filter((f) => f !== ''),
    ],
    { stdio: ['ignore', log, log] },
  )
}

/** As `kubeadm token create --print-join-command` prints it. */
const authorityHash = (ca: string): string =>
  createHash('sha256')
    .update(
      createPublicKey(new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'pem' })).export({
        type: 'spki',
        format: 'der',
      }),
    )
    .digest('hex')

async function joinCluster({ kubeadm }: JoinPlan, plane: ControlPlane): Promise<Ran> {
  const config = join(out, 'join.yaml')
  await writeFile(
    config,
    documents([
      {
        apiVersion: kubeadmApi,
        kind: 'JoinConfiguration',
        discovery: {
          bootstrapToken: {
            apiServerEndpoint: `${nodeAddress}:${API_PORT}`,
            token,
            caCertHashes: [`sha256:${authorityHash(plane.certificates.ca)}`],
          },
        },
        nodeRegistration: {
          name: nodeName,
          criSocket: `unix://${runtimeSocket}`,
          kubeletExtraArgs: [{ name: 'node-ip', value: nodeAddress }],
        },
      },
    ]),
  )
  const [ran] = await Promise.all([
    run(kubeadm, ['join', '--config', config, '--ignore-preflight-errors=all', '--v=1']),
    startKubelet(),
  ])
  return ran
}

interface NodeObject {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly nodeInfo?: { readonly kubeletVersion?: string }
  }
}

async function report({ client }: ControlPlane, { status, output }: Ran): Promise<JoinReport> {
  const node = () => client.getObject<NodeObject>(`/api/v1/nodes/${nodeName}`)
  const readyOf = (n: NodeObject | undefined) =>
    n?.status?.conditions?.find((c) => c.type === 'Ready')?.status
  for (let i = 0; i < 60 && readyOf(await node()) !== 'True'; i++) await sleep(1000)
  const found = await node()
  const csrs = await client.getObject<{ items: { metadata: { name: string } }[] }>(
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  )
  const text = (path: string) => readFile(path, 'utf8').catch(() => undefined)
  const configz = await client.get(`/api/v1/nodes/${nodeName}/proxy/configz`).catch(() => undefined)
  return {
    kubeadmStatus: status,
    kubeadmOutput: output,
    kubeletLog: (await text(join(out, 'kubelet.log'))) ?? '',
    ready: readyOf(found),
    kubeletVersion: found?.status?.nodeInfo?.kubeletVersion,
    csrNames: (csrs?.items ?? []).map((c) => c.metadata.name),
    annotations: found?.metadata?.annotations ?? {},
    kubeconfig: (await text('/etc/kubernetes/kubelet.conf')) ?? '',
    pki: await readdir('/var/lib/kubelet/pki').catch(() => []),
    instanceConfig: await text('/var/lib/kubelet/instance-config.yaml'),
    configz: configz === undefined ? {} : (JSON.parse(configz) as JoinReport['configz']),
  }
}

async function main(): Promise<void> {
  const plan = JSON.parse(await readFile(insideJoinPlan, 'utf8')) as JoinPlan
  await mkdir(out, { recursive: true })
  const plane = await startControlPlane({
    binaries: plan.binaries,
    directory: join(out, 'cluster'),
    address: nodeAddress,
    port: API_PORT,
  })
  await uploadCluster(plan, plane)
  const ran = await joinCluster(plan, plane)
  await writeFile(join(out, joinReport), JSON.stringify(await report(plane, ran)))
}

try {
  await main()
} catch (e) {
  process.stderr.write(`kubeadm join: ${e instanceof Error ? e.message : String(e)}\n`)
  process.exitCode = 70
}
// The namespaces end everything that still runs.
process.exit()

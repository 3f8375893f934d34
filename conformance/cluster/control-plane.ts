// A real control plane for tests: etcd, API server (Node authorizer, NodeRestriction, RBAC, service accounts), controller
// manager and scheduler, on loopback or, inside a network namespace, on an address of it. It ends with close() or with
// this process.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ApiClient, type ApiCredential, createApiClient } from '../peers/api-client.js'
import { freePorts } from '../peers/free-ports.js'
import { type Daemon, startDaemon, waitUntil } from '../process.js'
import { createBootstrapCredential } from './bootstrap-token.js'
import { type ClusterCertificates, createCertificates, mastersGroup, nodeUser } from './certificates.js'
import {
  apiServerArguments,
  auditPolicy,
  type ControlPlanePlan,
  clusterDomain,
  controllerManagerArguments,
  etcdArguments,
  schedulerArguments,
} from './components.js'
import { formatKubeconfig } from './kubeconfig.js'

export const controlPlanePeers = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const

/** Without a controller manager there are no service accounts, pod ranges and signed certificates. */
export type ControlPlaneBinaries = Readonly<Record<'etcd' | 'kube-apiserver', string>> &
  Readonly<Partial<Record<(typeof controlPlanePeers)[number], string>>>

export interface ControlPlaneOptions {
  readonly binaries: ControlPlaneBinaries
  /** Everything goes below it; the caller removes it. */
  readonly directory: string
  /** Default: loopback. Another one of this network namespace can be called by pods. */
  readonly address?: string
  /** Of the API server. Default: a free one. */
  readonly port?: number
  readonly auditLog?: boolean
  /** Life of certificates that the controller manager signs, as a Go duration; default: a year. */
  readonly signingDuration?: string
}

interface KubeconfigRequest {
  /** Of the file, without its ending. */
  readonly name: string
  readonly user: string
  readonly groups?: readonly string[]
  /** Where the API server is reached by those who use the file. Default: url. */
  readonly server?: string
}

export interface ControlPlane {
  readonly url: string
  /** Path of a kubeconfig of a cluster administrator. */
  readonly kubeconfig: string
  readonly client: ApiClient
  readonly certificates: ClusterCertificates
  /** One JSON line for each answered request, when it was asked for. */
  readonly auditLog: string | undefined
  /** Path of a kubeconfig with a client certificate of its own. */
  issueKubeconfig(request: KubeconfigRequest): Promise<string>
  /** Path of a kubeconfig of the kubelet of that node. */
  issueNodeKubeconfig(nodeName: string): Promise<string>
  /** Path of a kubeconfig with a bootstrap token, with which a node asks for its certificate. */
  issueBootstrapKubeconfig(): Promise<string>
  close(): Promise<void>
}

export const administrator = { user: 'kubernetes-admin', groups: [mastersGroup] } as const
const loopback = '127.0.0.1'
const READY_TIMEOUT_MS = 180_000 // the first start creates every API group while other work shares the machine

const hostsOf = (address: string): string[] => [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  `kubernetes.default.svc.${clusterDomain}`,
  '10.96.0.1', // the first address of the service network
  ...new Set([loopback, address]),
]

async function planControlPlane(
  o: ControlPlaneOptions,
  certificates: ClusterCertificates,
): Promise<ControlPlanePlan> {
  const [etcd = 0, etcdPeer = 0, apiServer = 0, controllerManager = 0, scheduler = 0] = await freePorts(5)
  const policy = join(o.directory, 'audit-policy.yaml')
  if (o.auditLog === true) await writeFile(policy, auditPolicy)
  return {
    directory: o.directory,
    address: o.address ?? loopback,
    ports: { etcd, etcdPeer, apiServer: o.port ?? apiServer, controllerManager, scheduler },
    certificates: certificates.files,
    hasControllers: o.binaries['kube-controller-manager'] !== undefined,
    auditLog: o.auditLog === true ? { policy, file: join(o.directory, 'audit.log') } : undefined,
    signingDuration: o.signingDuration,
  }
}

export async function startControlPlane(o: ControlPlaneOptions): Promise<ControlPlane> {
  const daemons: Daemon[] = []
  const close = async (): Promise<void> => {
    for (const daemon of daemons.splice(0).reverse()) await daemon.close()
  }
  try {
    return { ...(await start(o, daemons)), close }
  } catch (e) {
    await close()
    throw e
  }
}

async function start(o: ControlPlaneOptions, daemons: Daemon[]): Promise<Omit<ControlPlane, 'close'>> {
  const { binaries, directory } = o
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const certificates = await createCertificates(join(directory, 'pki'), hostsOf(o.address ?? loopback))
  const plan = await planControlPlane(o, certificates)
  const url = `https://${plan.address}:${plan.ports.apiServer}`
  const run = (name: string, binary: string, args: readonly string[]): Daemon => {
    const daemon = startDaemon(binary, args, { logFile: join(directory, `${name}.log`), cwd: directory })
    daemons.push(daemon)
    return daemon
  }
  const ready = (what: string, daemon: Daemon, ask: () => Promise<boolean>): Promise<void> =>
    waitUntil(what, ask, {
      timeoutMs: READY_TIMEOUT_MS,
      daemon,
      lastWords: () => readFile(daemon.logFile, 'utf8'),
    })
  const write = async (name: string, credential: ApiCredential, server = url): Promise<string> => {
    const path = join(directory, `${name}.kubeconfig`)
    await writeFile(path, formatKubeconfig(server, certificates.ca, credential), { mode: 0o600 })
    return path
  }
  const issueKubeconfig = async ({ name, user, groups, server }: KubeconfigRequest): Promise<string> =>
    write(name, await certificates.issueClient(user, groups), server)

  run('etcd', binaries.etcd, etcdArguments(plan))
  // It waits for etcd by itself.
  const apiServer = run('kube-apiserver', binaries['kube-apiserver'], apiServerArguments(plan))
  const admin = await certificates.issueClient(administrator.user, administrator.groups)
  const client = createApiClient(url, admin, certificates.ca)
  await ready('kube-apiserver ready', apiServer, async () => (await client.get('/readyz')) !== undefined)

  for (const [name, argumentsOf] of controllers) {
    const binary = binaries[name]
    if (binary === undefined) continue
    const kubeconfig = await issueKubeconfig({ name, user: `system:${name}` })
    const daemon = run(name, binary, argumentsOf(plan, kubeconfig))
    if (name === 'kube-controller-manager')
      await ready('the default service account', daemon, () => hasServiceAccount(client))
  }
  return {
    url,
    kubeconfig: await write('admin', admin),
    client,
    certificates,
    auditLog: plan.auditLog?.file,
    issueKubeconfig,
    issueNodeKubeconfig: (nodeName) =>
      issueKubeconfig({ name: `kubelet-${nodeName}`, ...nodeUser(nodeName) }),
    issueBootstrapKubeconfig: async () => write('bootstrap-kubelet', await createBootstrapCredential(client)),
  }
}

const controllers = [
  ['kube-scheduler', schedulerArguments],
  ['kube-controller-manager', controllerManagerArguments],
] as const

const hasServiceAccount = async (client: ApiClient): Promise<boolean> => {
  const names = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt']
  const found = names.map((name) => client.get(`/api/v1/namespaces/default/${name}`))
  return (await Promise.all(found)).every((object) => object !== undefined)
}

// The node of a cluster inside a node environment: the kubelet, kube-proxy and CoreDNS as processes of the environment.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { nodeAddress, runtimeSocket } from '../node-environment/plan.js'
import { type ApiClient, createApiClient } from '../peers/api-client.js'
import { type Daemon, startDaemon, waitUntil } from '../process.js'
import { writePair } from './certificates.js'
import { clusterDomain, podNetwork } from './components.js'
import type { ControlPlane } from './control-plane.js'

const READY_TIMEOUT_MS = 180_000

export interface NodeOptions {
  readonly plane: ControlPlane
  readonly nodeName: string
  readonly directory: string
  /** Pods ask it for names; without it they have the node's resolver. */
  readonly dns: string | undefined
}

interface NodeObject {
  readonly spec?: { readonly taints?: readonly unknown[] }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Ready, and without the taints that keep pods away until the controllers have seen it. */
async function isReady(client: ApiClient, nodeName: string): Promise<boolean> {
  const node = await client.getObject<NodeObject>(`/api/v1/nodes/${nodeName}`)
  const ready = node?.status?.conditions?.find((c) => c.type === 'Ready')
  return ready?.status === 'True' && (node?.spec?.taints ?? []).length === 0
}

const run = (o: NodeOptions, name: string, argv: readonly string[]): Daemon => {
  const [command = '', ...args] = argv
  return startDaemon(command, args, { logFile: join(o.directory, `${name}.log`), cwd: o.directory })
}

export async function startKubelet(o: NodeOptions, command: string): Promise<Daemon> {
  const { plane, nodeName, directory } = o
  const serving = await writePair(
    directory,
    'kubelet-serving',
    await plane.certificates.issueServing(`system:node:${nodeName}`, [nodeName, nodeAddress]),
  )
  const manifests = join(directory, 'manifests')
  await mkdir(manifests)
  const config = join(directory, 'kubelet.yaml')
  await writeFile(
    config,
    stringify({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: plane.certificates.files.authority.certificate },
      },
      authorization: { mode: 'Webhook' },
      tlsCertFile: serving.certificate,
      tlsPrivateKeyFile: serving.key,
      containerRuntimeEndpoint: `unix://${runtimeSocket}`,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: '/',
      staticPodPath: manifests,
      clusterDomain,
      ...(o.dns === undefined ? {} : { clusterDNS: [o.dns] }),
      // A run does not end because the host's disk is rather full.
      evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
      serializeImagePulls: false,
      failCgroupV1: false,
      failSwapOn: false,
      resolvConf: '/etc/resolv.conf',
    }),
  )
  const kubelet = run(o, 'kubelet', [
    command,
    `--config=${config}`,
    `--kubeconfig=${await plane.issueNodeKubeconfig(nodeName)}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${nodeAddress}`,
  ])
  await waitUntil(`node ${nodeName} ready`, () => isReady(plane.client, nodeName), {
    timeoutMs: READY_TIMEOUT_MS,
    daemon: kubelet,
    lastWords: () => readFile(kubelet.logFile, 'utf8'),
  })
  return kubelet
}

export async function startKubeProxy(o: NodeOptions, binary: string): Promise<Daemon> {
  const user = 'system:kube-proxy'
  const kubeconfig = await o.plane.issueKubeconfig({ name: 'kube-proxy', user })
  return run(o, 'kube-proxy', [
    binary,
    `--kubeconfig=${kubeconfig}`,
    `--hostname-override=${o.nodeName}`,
    `--cluster-cidr=${podNetwork}`,
    '--proxy-mode=iptables',
    // Limits of connection tracking are the host's.
    '--conntrack-max-per-core=0',
    '--conntrack-min=0',
  ])
}

const corefile = (kubeconfig: string): string => `.:53 {
    bind ${nodeAddress}
    errors
    kubernetes ${clusterDomain} in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods insecure
    }
    cache 5
}
`

/** Its rights are those that kubeadm gives it. */
async function allowDns(client: ApiClient, user: string): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io'
  const rules = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ]
  const metadata = { name: user }
  await client.create(`/apis/${apiGroup}/v1/clusterroles`, {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRole',
    metadata,
    rules,
  })
  await client.create(`/apis/${apiGroup}/v1/clusterrolebindings`, {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name: user },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  })
}

export async function startCoreDns(o: NodeOptions, binary: string): Promise<Daemon> {
  const user = 'system:coredns'
  const { url, client, certificates } = o.plane
  await allowDns(client, user)
  // Rights reach the authorizer a moment later; a list that is refused once is asked for again only after a while.
  const own = createApiClient(url, await certificates.issueClient(user), certificates.ca)
  const isAllowed = async (): Promise<boolean> =>
    (await own.get('/apis/discovery.k8s.io/v1/endpointslices?limit=1')) !== undefined
  await waitUntil('the rights of CoreDNS', isAllowed, { timeoutMs: READY_TIMEOUT_MS })
  const config = join(o.directory, 'Corefile')
  await writeFile(config, corefile(await o.plane.issueKubeconfig({ name: 'coredns', user })))
  return run(o, 'coredns', [binary, '-conf', config])
}

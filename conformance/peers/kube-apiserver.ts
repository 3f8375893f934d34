// A real kube-apiserver on loopback over an etcd of its own: static token, self-signed certificate, no nodes.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDaemon, waitUntil } from '../process.js'
import { type ApiClient, createApiClient } from './api-client.js'
import { startEtcd } from './etcd.js'
import { freePorts } from './free-ports.js'

export interface ApiServer {
  readonly url: string
  /** A kubeconfig with the rights of system:masters, certificate authority and token inside. */
  readonly kubeconfig: string
  /** A kubeconfig of the kubelet of the node named by the options. */
  readonly nodeKubeconfig: string
  readonly client: ApiClient
  close(): Promise<void>
}

export interface ApiServerBinaries {
  readonly etcd: string
  readonly kubeApiserver: string
}

const READY_TIMEOUT_MS = 180_000 // the first start creates every API group while other work shares the machine

/** `nodeName`: the node that has credentials of its own. */
export async function startApiServer(
  binaries: ApiServerBinaries,
  parent: string,
  nodeName: string,
): Promise<ApiServer> {
  const directory = join(parent, 'control-plane')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const etcd = await startEtcd(binaries.etcd, directory)
  try {
    const server = await startKubeApiserver(binaries.kubeApiserver, directory, etcd.clientUrl, nodeName)
    return {
      ...server,
      close: async () => {
        await server.close()
        await etcd.close()
      },
    }
  } catch (e) {
    await etcd.close()
    throw e
  }
}

async function startKubeApiserver(
  binary: string,
  directory: string,
  etcdUrl: string,
  nodeName: string,
): Promise<ApiServer> {
  const [port] = await freePorts(1)
  const url = `https://127.0.0.1:${port}`
  const token = randomBytes(16).toString('hex')
  const nodeToken = randomBytes(16).toString('hex')
  const serviceAccountKey = join(directory, 'service-account.pem')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  const tokens = `${token},conformance,1,system:masters\n${nodeToken},system:node:${nodeName},2,system:nodes\n`
  await writeFile(join(directory, 'tokens.csv'), tokens, { mode: 0o600 })
  const logFile = join(directory, 'kube-apiserver.log')
  const daemon = startDaemon(
    binary,
    [
      `--etcd-servers=${etcdUrl}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${join(directory, 'certificates')}`,
      `--token-auth-file=${join(directory, 'tokens.csv')}`,
      '--authorization-mode=Node,RBAC',
      '--enable-bootstrap-token-auth=true',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${serviceAccountKey}`,
      `--service-account-signing-key-file=${serviceAccountKey}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--disable-admission-plugins=ServiceAccount', // no controller manager makes service accounts here
      '--endpoint-reconciler-type=none', // nothing serves the cluster's own address here
    ],
    { logFile },
  )
  try {
    const certificate = join(directory, 'certificates', 'apiserver.crt')
    const readClient = async () => createApiClient(url, token, await readFile(certificate, 'utf8'))
    const ready = async () => (await (await readClient()).get('/readyz')) !== undefined
    const lastWords = () => readFile(logFile, 'utf8')
    await waitUntil('kube-apiserver ready', ready, { timeoutMs: READY_TIMEOUT_MS, daemon, lastWords })
    const kubeconfig = join(directory, 'admin.conf')
    const nodeKubeconfig = join(directory, 'kubelet.conf')
    await writeFile(kubeconfig, formatKubeconfig(url, token, await readFile(certificate)), { mode: 0o600 })
    await writeFile(nodeKubeconfig, formatKubeconfig(url, nodeToken, await readFile(certificate)), {
      mode: 0o600,
    })
    return { url, kubeconfig, nodeKubeconfig, client: await readClient(), close: () => daemon.close() }
  } catch (e) {
    await daemon.close()
    throw e
  }
}

const formatKubeconfig = (server: string, token: string, certificate: Buffer): string => `apiVersion: v1
kind: Config
clusters:
  - name: conformance
    cluster: {server: "${server}", certificate-authority-data: ${certificate.toString('base64')}}
users:
  - name: conformance
    user: {token: "${token}"}
contexts:
  - name: conformance
    context: {cluster: conformance, user: conformance}
current-context: conformance
`

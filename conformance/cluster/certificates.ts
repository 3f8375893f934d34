// The certificates of a throw-away cluster: its authority, serving and client certificates, the front proxy's own authority
// and the key that signs service account tokens. Everything is readable by its owner alone.
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Authority, createAuthority, createLeaf, type Pair } from '../../test/serve/pki.js'

/** Paths of a certificate and of its key. */
export interface PairFiles {
  readonly certificate: string
  readonly key: string
}

export interface ClusterCertificates {
  /** Certificate of the cluster's authority, in PEM. */
  readonly ca: string
  readonly files: {
    readonly authority: PairFiles
    readonly apiServer: PairFiles
    /** With it the API server calls kubelets. */
    readonly kubeletClient: PairFiles
    readonly frontProxyAuthority: PairFiles
    readonly frontProxyClient: PairFiles
    readonly serviceAccountKey: string
  }
  /** A client certificate: the user is its CN, the groups are its organizations. */
  issueClient(user: string, groups?: readonly string[]): Promise<Pair>
  /** A serving certificate, such as a kubelet's. */
  issueServing(name: string, hosts: readonly string[]): Promise<Pair>
}

/** The group of the API server's own super user. */
export const mastersGroup = 'system:masters'

export const nodeUser = (
  nodeName: string,
): { readonly user: string; readonly groups: readonly string[] } => ({
  user: `system:node:${nodeName}`,
  groups: ['system:nodes'],
})

export async function writePair(directory: string, name: string, pair: Pair): Promise<PairFiles> {
  const files = { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) }
  await writeFile(files.certificate, pair.certificate, { mode: 0o600 })
  await writeFile(files.key, pair.key, { mode: 0o600 })
  return files
}

/** `hosts`: names and addresses under which clients call the API server. */
export async function createCertificates(
  directory: string,
  hosts: readonly string[],
): Promise<ClusterCertificates> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const authority = await createAuthority('kubernetes')
  const frontProxy = await createAuthority('front-proxy-ca')
  const client = (user: string, groups: readonly string[] = [], by: Authority = authority) =>
    createLeaf(by, { user, groups })
  const serving = (user: string, names: readonly string[]) =>
    createLeaf(authority, { user, usage: 'server', hosts: names })
  const write = (name: string, pair: Pair) => writePair(directory, name, pair)
  const serviceAccountKey = join(directory, 'service-account.key')
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(serviceAccountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  return {
    ca: authority.certificate,
    files: {
      authority: await write('ca', authority),
      apiServer: await write('apiserver', await serving('kube-apiserver', hosts)),
      kubeletClient: await write(
        'apiserver-kubelet-client',
        await client('kube-apiserver-kubelet-client', [mastersGroup]),
      ),
      frontProxyAuthority: await write('front-proxy-ca', frontProxy),
      frontProxyClient: await write('front-proxy-client', await client('front-proxy-client', [], frontProxy)),
      serviceAccountKey,
    },
    issueClient: client,
    issueServing: serving,
  }
}

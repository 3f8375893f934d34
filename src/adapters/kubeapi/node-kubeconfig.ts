// Kubeconfigs of a node on disk: the one that it has, and the one that is written with its first certificate.
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { stringify } from 'yaml'
import { asKeelsonError } from '../../core/errors.js'
import type { Kubeconfigs } from '../../ports/kubeconfigs.js'
import { describeCertificate } from '../certificates/describe.js'
import { readBounded } from '../files/read.js'
import { replaceFile } from '../files/replace.js'
import type { ApiAccess, Material } from './kubeconfig.js'
import { readAccess } from './open.js'

const maxBytes = 1024 * 1024

async function textOf(material: Material): Promise<string> {
  if ('text' in material) return material.text
  return Buffer.from((await readBounded(material.file, maxBytes)) ?? []).toString('utf8')
}

async function certificateProblem(path: string, nowMs: number): Promise<string | undefined> {
  try {
    const { certificate, key } = (await readAccess(path)).user
    if (certificate === undefined || key === undefined) return 'it has no client certificate'
    const facts = describeCertificate(await textOf(certificate), await textOf(key))
    if (facts === undefined) return 'its client certificate cannot be read, or is not that of its key'
    const ended = new Date(facts.notAfterMs).toISOString()
    return nowMs >= facts.notAfterMs ? `its client certificate has ended at ${ended}` : undefined
  } catch (e) {
    return asKeelsonError(e).message
  }
}

async function embeddedPair(path: string): Promise<{ certificate: string; key: string } | undefined> {
  const { certificate, key } = (await readAccess(path)).user
  if (certificate === undefined || key === undefined) return undefined
  return 'text' in certificate && 'text' in key ? { certificate: certificate.text, key: key.text } : undefined
}

/** The names that the upstream kubelet writes; a pair that is replaced is read again, so that it is written once. */
function formatNodeKubeconfig({ server, ca, insecure, serverName }: ApiAccess, pairFile: string): string {
  const authority =
    ca === undefined
      ? {}
      : 'file' in ca
        ? { 'certificate-authority': ca.file }
        : { 'certificate-authority-data': Buffer.from(ca.text).toString('base64') }
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'default-cluster',
        cluster: {
          ...authority,
          ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
          ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
          server: server.href.replace(/\/$/, ''),
        },
      },
    ],
    contexts: [
      {
        name: 'default-context',
        context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' },
      },
    ],
    'current-context': 'default-context',
    preferences: {},
    users: [{ name: 'default-auth', user: { 'client-certificate': pairFile, 'client-key': pairFile } }],
  })
}

export const createKubeconfigs = (): Kubeconfigs => ({
  exists: async (path) => (await stat(path).catch(() => undefined)) !== undefined,
  certificateProblem,
  embeddedPair,
  async writeForNode(path, clusterOf, pairFile) {
    const text = formatNodeKubeconfig(await readAccess(clusterOf), pairFile)
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await replaceFile(path, text, { mode: 0o600 })
  },
})

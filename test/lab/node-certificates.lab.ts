// Certificates of a node from a real signer: kube-controller-manager approves and signs the client's, an administrator approves
// the server's. Certificates live for two minutes here, so that their renewal can be watched.
import 'reflect-metadata'
import { X509Certificate } from 'node:crypto'
import { existsSync, readlinkSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { Pkcs10CertificateRequest } from '@peculiar/x509'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { CertificateSigningRequest } from '../../src/core/kube/objects.js'
import { type KubeletProcess, startKubeletProcess } from '../kubelet/kubelet-process.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import {
  memberFlags,
  type RealControlPlane,
  runtimeScripts,
  startRealControlPlane,
} from '../support/real-control-plane.js'

let bundle: Bundle
let plane: RealControlPlane
beforeAll(async () => {
  bundle = await bundleCommand()
  plane = await startRealControlPlane({ signingDuration: '2m' })
})
afterAll(async () => {
  await plane?.close()
  await bundle.remove()
})

interface Place {
  readonly kubeconfig: string
  readonly bootstrap: string
  readonly pki: string
}

/** Files of one node that outlive its kubelet processes. */
async function place(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'keelson-node-'))
  const bootstrap = join(root, 'bootstrap-kubelet.conf')
  await cp(await plane.throughProxy(await plane.issueBootstrapKubeconfig()), bootstrap)
  return { kubeconfig: join(root, 'kubelet.conf'), bootstrap, pki: join(root, 'pki') }
}

async function startNode(name: string, at: Place, config: object = {}): Promise<KubeletProcess> {
  await mkdir(at.pki, { recursive: true })
  const file = join(at.pki, '..', 'config.yaml')
  await writeFile(
    file,
    JSON.stringify({ apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...config }),
  )
  return startKubeletProcess(bundle.main, {
    scripts: runtimeScripts,
    flags: [
      ...memberFlags(name),
      `--config=${file}`,
      `--kubeconfig=${at.kubeconfig}`,
      `--bootstrap-kubeconfig=${at.bootstrap}`,
      `--cert-dir=${at.pki}`,
    ],
  })
}

async function during(kubelet: KubeletProcess, look: () => Promise<void>): Promise<void> {
  try {
    await look()
  } catch (e) {
    console.log(kubelet.output())
    throw e
  } finally {
    await kubelet.remove()
  }
}

const serialOf = async ({ pki }: Place): Promise<string> =>
  new X509Certificate(await readFile(join(pki, 'kubelet-client-current.pem'))).serialNumber

async function csrsOf(node: string, signer: string): Promise<readonly CertificateSigningRequest[]> {
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const list = await plane.client.getObject<{ items: CertificateSigningRequest[] }>(path)
  return (list?.items ?? []).filter(
    (c) => c.spec?.signerName === signer && commonNameOf(c) === `system:node:${node}`,
  )
}
const commonNameOf = (csr: CertificateSigningRequest): string =>
  new Pkcs10CertificateRequest(atob(csr.spec?.request ?? '')).subjectName.getField('CN')[0] ?? ''

const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const servingSigner = 'kubernetes.io/kubelet-serving'

describe('the client certificate', () => {
  test('by bootstrap token: request, signature, files and kubeconfig as the upstream kubelet has them, Node Ready', async () => {
    const at = await place()
    const kubelet = await startNode('boot-a', at)
    await during(kubelet, async () => {
      await plane.becomes('boot-a', 'True')
      const current = join(at.pki, 'kubelet-client-current.pem')
      expect(readlinkSync(current)).toMatch(/\/kubelet-client-\d{4}(-\d{2}){5}\.pem$/)
      expect((await stat(current)).mode & 0o777).toBe(0o600)
      expect((await stat(at.kubeconfig)).mode & 0o777).toBe(0o600)
      expect(existsSync(join(at.pki, 'kubelet-client.key.tmp'))).toBe(false)
      expect(parse(await readFile(at.kubeconfig, 'utf8'))).toMatchObject({
        'current-context': 'default-context',
        contexts: [
          { name: 'default-context', context: { cluster: 'default-cluster', user: 'default-auth' } },
        ],
        users: [{ name: 'default-auth', user: { 'client-certificate': current, 'client-key': current } }],
      })
      const subject = new X509Certificate(await readFile(current)).subject
      expect(subject).toBe('O=system:nodes\nCN=system:node:boot-a')
      expect(kubelet.output()).not.toMatch(/[a-z0-9]{6}\.[a-z0-9]{16}/)
    })
    // A second start needs no bootstrap, also when the token is gone.
    await rm(at.bootstrap)
    const again = await startNode('boot-a', at)
    await during(again, async () => {
      await again.says('this machine is a node of a cluster')
      expect(again.output()).not.toContain('asking the cluster')
    })
  })

  test('killed at any moment of the bootstrap: the next start goes on, with one request for each key', async () => {
    const at = await place()
    const before = (await csrsOf('boot-b', clientSigner)).length
    for (const afterMs of [600, 900, 1200, 1500, 1800, 2100, 2400, 2700]) {
      const kubelet = await startNode('boot-b', at)
      await sleep(afterMs)
      await kubelet.remove()
    }
    const kubelet = await startNode('boot-b', at)
    await during(kubelet, async () => {
      await plane.becomes('boot-b', 'True')
      expect((await csrsOf('boot-b', clientSigner)).length - before).toBeLessThanOrEqual(1)
      expect((await readdir(at.pki)).filter((f) => f.endsWith('.tmp'))).toEqual([])
    })
  })

  test('renewed before it ends, without a restart and without a missed heartbeat', async () => {
    const at = await place()
    const kubelet = await startNode('boot-c', at, { rotateCertificates: true })
    await during(kubelet, async () => {
      await plane.becomes('boot-c', 'True')
      const first = await serialOf(at)
      await expect.poll(() => serialOf(at), { timeout: 150_000, interval: 1000 }).not.toBe(first)
      const second = await serialOf(at)
      await expect.poll(() => serialOf(at), { timeout: 150_000, interval: 1000 }).not.toBe(second)
      // The first one has ended by now.
      await sleep(20_000)
      expect(kubelet.output()).not.toContain('a heartbeat to the API server failed')
      await plane.becomes('boot-c', 'True')
    })
  })

  test('ended while the kubelet was stopped: asked for again with the bootstrap token', async () => {
    const at = await place()
    const first = await startNode('boot-d', at)
    await during(first, () => plane.becomes('boot-d', 'True'))
    const serial = await serialOf(at)
    const ends = Date.parse(
      new X509Certificate(await readFile(join(at.pki, 'kubelet-client-current.pem'))).validTo,
    )
    await sleep(Math.max(0, ends - Date.now() + 2000))
    const second = await startNode('boot-d', at)
    await during(second, async () => {
      await second.says('the kubeconfig cannot be used; using --bootstrap-kubeconfig')
      await expect.poll(() => serialOf(at), { timeout: 60_000 }).not.toBe(serial)
      await second.says('the client certificate of this node is there')
    })
  })
})

describe('the serving certificate', () => {
  const handshake = (port: number): Promise<{ authorized: boolean; names: string | undefined } | string> =>
    new Promise((resolve) => {
      const socket = connect(
        { port, host: '127.0.0.1', servername: 'boot-e', ca: plane.certificates.ca },
        () => {
          const names = socket.getPeerX509Certificate()?.subjectAltName
          resolve({ authorized: socket.authorized, names })
          socket.destroy()
        },
      )
      socket.once('error', (e) => resolve(e.message))
    })

  test('asked for with the names of the Node; no handshake before it is approved, a trusted one after', async () => {
    const at = await place()
    const kubelet = await startNode('boot-e', at, { serverTLSBootstrap: true, rotateCertificates: true })
    await during(kubelet, async () => {
      await plane.becomes('boot-e', 'True')
      const waiting = async () =>
        (await csrsOf('boot-e', servingSigner)).filter((c) => c.status?.conditions === undefined)
      await expect.poll(async () => (await waiting()).length, { timeout: 60_000 }).toBe(1)
      expect(await handshake(kubelet.port)).toMatch(/handshake|alert|SSL/i)
      const [csr] = await waiting()
      const path = `/apis/certificates.k8s.io/v1/certificatesigningrequests/${csr?.metadata?.name}/approval`
      const condition = { type: 'Approved', status: 'True', reason: 'Test', message: 'by the test' }
      await plane.client.patch(path, { status: { conditions: [condition] } })
      await expect
        .poll(() => handshake(kubelet.port), { timeout: 60_000, interval: 1000 })
        .toMatchObject({ authorized: true, names: expect.stringMatching(/DNS:boot-e.*IP Address:/) })
    })
  })
})

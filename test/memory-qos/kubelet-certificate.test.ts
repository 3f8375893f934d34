// To whom the companion shows its token: real TLS listeners with the certificates that kubelets have, and one that is not a kubelet.
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { createKubeletApi } from '../../src/adapters/kubeapi/kubelet-api.js'
import { createSelfSigned } from '../../src/adapters/tls/self-signed.js'
import { type Authority, createAuthority, createLeaf, type Pair } from '../serve/pki.js'
import { temporaryDirectory } from '../serve/start.js'
import { type Bundle, bundleCommand, startCommand } from '../support/command.js'

const directory = temporaryDirectory()
const secret = 'eyJsecret.service.account'
let bundle: Bundle
let cluster: Authority
let foreign: Pair
let selfSigned: Pair
const servers: Server[] = []

const put = (path: string, text: string): string => {
  const file = join(directory.path, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const servingLeaf = async (by: Authority, name: string): Promise<Pair> =>
  createLeaf(by, { user: `system:node:${name}`, groups: ['system:nodes'], usage: 'server', hosts: [name] })

/** As a kubelet makes it for itself: a leaf for the node's name alone, and after it the authority that it made for it. */
async function kubeletOwn(): Promise<Pair> {
  const own = await createAuthority('node-1-ca@1700000000')
  const leaf = await createLeaf(own, { user: 'node-1@1700000000', usage: 'server', hosts: ['node-1'] })
  return { key: leaf.key, certificate: leaf.certificate + own.certificate }
}

beforeAll(async () => {
  bundle = await bundleCommand()
  cluster = await createAuthority('kubernetes')
  selfSigned = await kubeletOwn()
  foreign = await kubeletOwn()
  put('var/run/secrets/kubernetes.io/serviceaccount/token', secret)
  put('var/run/secrets/kubernetes.io/serviceaccount/ca.crt', cluster.certificate)
  put('var/lib/kubelet/pki/kubelet.crt', selfSigned.certificate)
  put('etc/keelson/config.yaml', 'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\n')
})
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})
afterAll(async () => {
  await bundle.remove()
  directory.remove()
})

/** Keeps a companion off whatever this host runs: a cgroup root that no host has. */
const kubeletconfig = {
  cgroupRoot: '/keelson-no-such-root',
  cgroupDriver: 'cgroupfs',
  enforceNodeAllocatable: [],
}

/** Everything that a client said, decrypted. */
async function listenWith(pair: Pair): Promise<{ readonly url: string; heard(): string }> {
  let text = ''
  const server = createServer({ cert: pair.certificate, key: pair.key }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (data: Buffer) => {
      text += data.toString()
      const body = JSON.stringify({ kubeletconfig })
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, heard: () => text }
}

/** The arguments of the manifest, with its files below the test's directory and another port. */
function manifestArguments(url: string): string[] {
  const yaml = readFileSync(new URL('../../deploy/companion/companion.yaml', import.meta.url), 'utf8')
  const daemonSet = parseAllDocuments(yaml)
    .map((document) => document.toJS() as { kind: string; spec?: unknown })
    .find(({ kind }) => kind === 'DaemonSet')
  const { spec } = daemonSet as {
    spec: { template: { spec: { containers: { args: string[] }[] } } }
  }
  return (spec.template.spec.containers[0]?.args ?? [])
    .filter((arg) => !arg.startsWith('--runtime-endpoint='))
    .map((arg) => arg.replace(/^--kubelet-url=.*/, `--kubelet-url=${url}`))
    .map((arg) => arg.replace(/=(\/(etc|var)\/)/, `=${directory.path}$1`))
}

const startCompanion = (args: readonly string[]) =>
  startCommand([bundle.main, ...args, `--state-dir=${join(directory.path, 'state')}`], {
    NODE_NAME: 'node-1',
    KUBERNETES_SERVICE_HOST: '', // there is no cluster here
  })

describe('keelson companion as the manifest starts it', () => {
  test('its token does not go to a stranger who listens on the port of the kubelet', async () => {
    const stranger = await listenWith(foreign)
    const companion = startCompanion(manifestArguments(stranger.url))
    expect(await companion.ended).toBe(1)
    expect(stranger.heard()).toBe('')
    expect(companion.output()).toMatch(/--kubelet-ca-file .*--kubelet-skip-verify/)
  })

  test("its token goes to the kubelet, whose self-signed certificate is the node's own", async () => {
    const kubelet = await listenWith(selfSigned)
    const companion = startCompanion(manifestArguments(kubelet.url))
    await companion.ended
    expect(kubelet.heard()).toContain(`Bearer ${secret}`)
  })
})

test('--kubelet-skip-verify is warned about at the start', async () => {
  const kubelet = await listenWith(foreign)
  const args = ['companion', `--kubelet-url=${kubelet.url}`, '--kubelet-skip-verify', '--pods-from=api']
  const companion = startCompanion([...args, `--kubeconfig=${directory.path}/none`])
  await companion.ended
  expect(companion.output()).toMatch(/--kubelet-skip-verify: .*not verified/)
})

describe('which certificates are taken for the kubelet of this node', () => {
  const ask = async (served: Pair, ...trusted: readonly string[]) => {
    const kubelet = await listenWith(served)
    const api = createKubeletApi({
      url: kubelet.url,
      tokenFile: put('token', secret),
      caFiles: trusted.map((pem, i) => put(`trusted-${i}.crt`, pem)),
      nodeName: 'node-1',
    })
    const answer = await api.configz(AbortSignal.timeout(10_000)).then(
      () => 'verified',
      (e: Error) => e.message,
    )
    expect(kubelet.heard().includes(secret)).toBe(answer === 'verified')
    return answer
  }

  test("the node's own, self-signed, with its authority or alone", async () => {
    expect(await ask(selfSigned, selfSigned.certificate)).toBe('verified')
    const alone = await createSelfSigned('node-1', ['node-1'])
    expect(await ask(alone, alone.certificate)).toBe('verified')
    expect(await ask(alone, cluster.certificate, alone.certificate)).toBe('verified')
  })

  test("one of the cluster's authority for this node, and for no other", async () => {
    expect(await ask(await servingLeaf(cluster, 'node-1'), cluster.certificate)).toBe('verified')
    expect(await ask(await servingLeaf(cluster, '127.0.0.1'), cluster.certificate)).toBe('verified')
    expect(await ask(await servingLeaf(cluster, 'node-2'), cluster.certificate)).toMatch(/--kubelet-ca-file/)
  })

  test('a self-signed one that is not trusted: the error names the way out', async () => {
    for (const trusted of [cluster.certificate, selfSigned.certificate])
      expect(await ask(foreign, trusted)).toMatch(/--kubelet-ca-file .*--kubelet-skip-verify/)
  })

  test('another certificate of the authority that a kubelet made for itself is not the kubelet', async () => {
    const own = await createAuthority('node-1-ca')
    const other = await servingLeaf(own, 'node-2')
    const mine = await servingLeaf(own, 'node-1')
    expect(await ask(other, mine.certificate + own.certificate)).toMatch(/--kubelet-ca-file/)
  })

  test('an expired one: the error says how to get a new one', async () => {
    const day = 86_400_000
    const dates = { fromMs: Date.now() - 2 * day, untilMs: Date.now() - day }
    const old = await createLeaf(cluster, { user: 'node-1', usage: 'server', hosts: ['node-1'], ...dates })
    expect(await ask(old, cluster.certificate)).toMatch(/expired; .*restart/)
  })

  test('a file that is missing is passed over when another is there; when none is, the error names it', async () => {
    const kubelet = await listenWith(await servingLeaf(cluster, 'node-1'))
    const missing = join(directory.path, 'pki/kubelet.crt')
    const api = (...caFiles: string[]) => createKubeletApi({ url: kubelet.url, caFiles, nodeName: 'node-1' })
    const signal = AbortSignal.timeout(10_000)
    await api(missing, put('ca.crt', cluster.certificate)).configz(signal)
    await expect(api(missing).configz(signal)).rejects.toThrow(/pki\/kubelet\.crt/)
  })

  test('a file without a certificate is an error that names it', async () => {
    expect(await ask(selfSigned, 'no certificate')).toMatch(/trusted-0\.crt: no certificate in the file/)
  })
})

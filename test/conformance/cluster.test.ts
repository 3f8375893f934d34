// The parts of the cluster tier that need no built peer: flags, certificates, the forwarded port, and that a run that is
// killed takes its programs along.
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  type ClusterCertificates,
  createCertificates,
  nodeUser,
} from '../../conformance/cluster/certificates.js'
import { apiServerArguments, type ControlPlanePlan } from '../../conformance/cluster/components.js'
import { forward } from '../../conformance/cluster/forward.js'
import { formatKubeconfig } from '../../conformance/cluster/kubeconfig.js'
import { parseClusterOptions, requireFreePort } from '../../conformance/cluster/options.js'
import { createSigningRequest } from '../../conformance/cluster/signing-request.js'
import { chooseSpecs, parseE2eOptions } from '../../conformance/e2e/options.js'

let directory = ''
let certificates: ClusterCertificates
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-cluster-test-'))
  certificates = await createCertificates(join(directory, 'pki'), ['kubernetes.default', '10.77.0.1'])
})
afterAll(() => rm(directory, { recursive: true, force: true }))

describe('flags', () => {
  test('without any: the upstream kubelet on containerd 2', () => {
    expect(parseClusterOptions({})).toEqual({
      kubelet: 'upstream',
      runtime: 'containerd-2',
      proxy: false,
      dns: false,
      auditLog: false,
      port: 0,
    })
  })

  for (const { given, says } of [
    { given: { kubelet: 'other' }, says: '--kubelet other: choose one of upstream, keelson' },
    { given: { runtime: 'docker' }, says: '--runtime docker: choose one of' },
    { given: { port: '0' }, says: '--port 0: give a number from 1 to 65535' },
    { given: { port: '65536' }, says: '--port 65536' },
    { given: { port: '1e3' }, says: '--port 1e3' },
  ])
    test(`refuses ${JSON.stringify(given)}`, () => {
      expect(() => parseClusterOptions(given)).toThrow(says)
    })

  test('Keelson is refused while it registers no Node, and taken when it does', () => {
    expect(() => parseClusterOptions({ kubelet: 'keelson' }, () => false)).toThrow(
      'cannot join a cluster (registerNode has no effect)',
    )
    expect(parseClusterOptions({ kubelet: 'keelson' }, () => true).kubelet).toBe('keelson')
  })

  test('e2e has its own beside them', () => {
    expect(parseE2eOptions({ focus: 'Lease', sig: 'node,storage', procs: '2', record: true })).toMatchObject({
      selection: { focus: 'Lease', sigs: ['node', 'storage'] },
      procs: 2,
      record: true,
      kubelet: 'upstream',
    })
    expect(() => parseE2eOptions({ procs: 'many' })).toThrow('--procs many: give a number from 1 to 64')
    expect(() => parseE2eOptions({ focus: '' })).toThrow('--focus')
    expect(() => parseE2eOptions({ sig: 'node,nodes' })).toThrow('--sig nodes: choose from api-machinery')
  })

  test('a port in use is said before anything is started', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    await expect(requireFreePort(port)).rejects.toThrow(`--port ${port}: listen EADDRINUSE`)
    await new Promise((done) => server.close(done))
    await requireFreePort(port)
  })
})

test('which specs of the cluster suite run: those that need the API alone, Conformance of groups, or by name', () => {
  const spec = (name: string, ...labels: string[]) => ({ name, group: 'later' as const, labels })
  const lease = spec('[sig-node] Lease lease API should be available [Conformance]', 'Conformance')
  const dra = spec('[sig-node] [DRA] CRUD Tests resource.k8s.io/v1 DeviceClass [Conformance]', 'Conformance')
  const beta = spec('[sig-node] [DRA] CRUD Tests resource.k8s.io/v1beta1 DeviceClass')
  const pods = spec('[sig-node] Pods should be submitted and removed [Conformance]', 'Conformance')
  const secrets = spec('[sig-storage] Secrets should be consumable [Conformance]', 'Conformance')
  const list = [lease, dra, beta, pods, secrets]
  expect(chooseSpecs(list, { sigs: [], focus: undefined })).toEqual([lease, dra])
  expect(chooseSpecs(list, { sigs: [], focus: 'DRA' })).toEqual([dra, beta])
  expect(chooseSpecs(list, { sigs: ['node'], focus: undefined })).toEqual([lease, dra, pods])
  expect(chooseSpecs(list, { sigs: ['node', 'storage'], focus: 'be ' })).toEqual([lease, pods, secrets])
})

describe('certificates', () => {
  const read = async (path: string) => new X509Certificate(await readFile(path))

  test('the API server has its names, and the authority signed it', async () => {
    const { apiServer, authority } = certificates.files
    const serving = await read(apiServer.certificate)
    expect(serving.checkHost('kubernetes.default')).toBeDefined()
    expect(serving.checkIP('10.77.0.1')).toBeDefined()
    expect(serving.checkIP('10.77.0.2')).toBeUndefined()
    expect(serving.verify((await read(authority.certificate)).publicKey)).toBe(true)
  })

  test('a node is known by its name and its group', async () => {
    const { user, groups } = nodeUser('node-1')
    const pair = await certificates.issueClient(user, groups)
    const subject = new X509Certificate(pair.certificate).subject.split('\n')
    expect(subject.sort()).toEqual(['CN=system:node:node-1', 'O=system:nodes'])
  })

  test('the front proxy has an authority of its own: no client certificate of the cluster passes for it', async () => {
    const { authority, frontProxyAuthority, frontProxyClient } = certificates.files
    const client = await read(frontProxyClient.certificate)
    expect(client.verify((await read(frontProxyAuthority.certificate)).publicKey)).toBe(true)
    expect(client.verify((await read(authority.certificate)).publicKey)).toBe(false)
  })

  test('files are readable by their owner alone', () => {
    const { serviceAccountKey, ...pairs } = certificates.files
    const paths = [serviceAccountKey, ...Object.values(pairs).flatMap((p) => [p.certificate, p.key])]
    for (const path of paths) expect(statSync(path).mode & 0o777, path).toBe(0o600)
  })

  test('a signing request names user and groups', async () => {
    const { request, key } = await createSigningRequest('system:node:a', ['system:nodes'])
    expect(request).toContain('-----BEGIN CERTIFICATE REQUEST-----')
    expect(key).toContain('-----BEGIN PRIVATE KEY-----')
  })
})

test('a kubeconfig has everything inside', async () => {
  const pair = await certificates.issueClient('alice')
  const config = parse(formatKubeconfig('https://127.0.0.1:1', certificates.ca, pair)) as {
    readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[]
    readonly users: readonly { readonly user: Readonly<Record<string, string>> }[]
  }
  const decode = (text = '') => Buffer.from(text, 'base64').toString()
  expect(decode(config.clusters[0]?.cluster['certificate-authority-data'])).toBe(certificates.ca)
  expect(decode(config.users[0]?.user['client-key-data'])).toBe(pair.key)
})

describe('the API server', () => {
  const plan = (address: string): ControlPlanePlan => ({
    directory: '/d',
    address,
    ports: { etcd: 1, etcdPeer: 2, apiServer: 3, controllerManager: 4, scheduler: 5 },
    certificates: certificates.files,
    hasControllers: true,
    auditLog: undefined,
    signingDuration: undefined,
  })

  test('judges callers as a real cluster does', () => {
    const args = apiServerArguments(plan('10.77.0.1'))
    expect(args).toContain('--authorization-mode=Node,RBAC')
    expect(args).toContain('--enable-admission-plugins=NodeRestriction')
    expect(args.join(' ')).not.toContain('--disable-admission-plugins')
    expect(args.join(' ')).not.toMatch(/token-auth-file|AlwaysAllow|anonymous/)
  })

  test('publishes its address for pods, which on loopback it refuses to', () => {
    const none = '--endpoint-reconciler-type=none'
    expect(apiServerArguments(plan('127.0.0.1'))).toContain(none)
    expect(apiServerArguments(plan('10.77.0.1'))).not.toContain(none)
  })
})

test('a port of loopback leads to a socket file, and its end ends the connections', async () => {
  const path = join(directory, 'echo.sock')
  const echo = createServer((c) => c.on('error', () => {}).pipe(c)).listen(path)
  await once(echo, 'listening')
  const forwarder = await forward({ host: '127.0.0.1', port: 0 }, { path })
  const client = connect(forwarder.port, '127.0.0.1')
  client.write('hello')
  const [answer] = (await once(client, 'data')) as [Buffer]
  expect(answer.toString()).toBe('hello')
  const closed = once(client, 'close')
  await forwarder.close()
  await closed
  await new Promise((done) => echo.close(done))
})

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('a run that is killed leaves no program of its control plane', async () => {
  const module = join(import.meta.dirname, '../../conformance/process.ts')
  const program = `const { startDaemon } = await import(${JSON.stringify(module)})
for (const n of [1, 2]) console.log(startDaemon('sleep', ['1000'], { logFile: ${JSON.stringify(join(directory, 'sleep.log'))} }).pid)
setInterval(() => {}, 1000)`
  const run = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program])
  let output = ''
  run.stdout.on('data', (data: Buffer) => {
    output += data.toString()
  })
  await expect.poll(() => output.trim().split('\n').length, { timeout: 60_000 }).toBe(2)
  const pids = output.trim().split('\n').map(Number)
  expect(pids.every(isAlive)).toBe(true)
  run.kill('SIGKILL')
  await expect.poll(() => pids.some(isAlive)).toBe(false)
})

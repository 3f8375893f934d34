// The control plane that other units and tests stand on, checked by itself on loopback: who may do what, certificates
// for new nodes, service accounts, the audit log, and that a killed run leaves no process behind.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { processesNaming } from '../../test/support/leftovers.js'
import { nodeUser } from '../cluster/certificates.js'
import { type ControlPlane, controlPlanePeers, startControlPlane } from '../cluster/control-plane.js'
import { createSigningRequest } from '../cluster/signing-request.js'
import { type ApiClient, createApiClient } from '../peers/api-client.js'
import { startDaemon, waitUntil } from '../process.js'
import type { Unit, UnitContext } from '../unit.js'

const nodeName = 'node-a'
const WAIT_MS = 60_000

const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

const clientOf = async (plane: ControlPlane, user: string, groups: readonly string[]): Promise<ApiClient> =>
  createApiClient(plane.url, await plane.certificates.issueClient(user, groups), plane.certificates.ca)

async function refused(call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, /: 403 /)
}

async function checkIdentities(context: UnitContext, plane: ControlPlane): Promise<void> {
  const { user, groups } = nodeUser(nodeName)
  const kubelet = await clientOf(plane, user, groups)
  await context.check('a node creates its own Node and no other (NodeRestriction)', async () => {
    await kubelet.create('/api/v1/nodes', node(nodeName))
    await refused(kubelet.create('/api/v1/nodes', node('node-b')))
  })
  await context.check('a node reads its own Node and not all (Node authorizer)', async () => {
    assert.ok((await kubelet.get(`/api/v1/nodes/${nodeName}`)) !== undefined)
    await refused(kubelet.get('/api/v1/nodes'))
    await refused(kubelet.get('/api/v1/secrets'))
  })
  await context.check('the name of a node without its group may do nothing', async () => {
    await refused((await clientOf(plane, user, [])).get(`/api/v1/nodes/${nodeName}`))
  })
  await context.check('an ordinary user has no rights (RBAC)', async () => {
    await refused((await clientOf(plane, 'alice', ['people'])).get('/api/v1/namespaces'))
  })
  await context.check('the controller manager gives the node a pod range', async () => {
    const range = async (): Promise<boolean> => {
      const found = await plane.client.getObject<{ readonly spec?: { readonly podCIDR?: string } }>(
        `/api/v1/nodes/${nodeName}`,
      )
      return found?.spec?.podCIDR === '10.100.0.0/24'
    }
    await waitUntil('a pod range', range, { timeoutMs: WAIT_MS })
  })
}

interface PodObject {
  readonly spec: { readonly nodeName?: string; readonly serviceAccountName?: string }
}

async function checkPods(context: UnitContext, { client }: ControlPlane): Promise<void> {
  await context.check('a pod gets its service account, and the scheduler a node for it', async () => {
    const pods = '/api/v1/namespaces/default/pods'
    const spec = {
      containers: [{ name: 'app', image: 'registry.invalid/none' }],
      tolerations: [{ operator: 'Exists' }],
    }
    await client.patch(`/api/v1/nodes/${nodeName}/status`, {
      status: { capacity: { pods: '10', cpu: '1', memory: '1Gi' } },
    })
    await client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec })
    const bound = async (): Promise<boolean> =>
      (await client.getObject<PodObject>(`${pods}/one`))?.spec.nodeName === nodeName
    await waitUntil('the pod is bound', bound, { timeoutMs: WAIT_MS })
    assert.equal((await client.getObject<PodObject>(`${pods}/one`))?.spec.serviceAccountName, 'default')
  })
}

async function checkBootstrap(context: UnitContext, plane: ControlPlane): Promise<void> {
  await context.check('a bootstrap token asks for a node certificate, and it is signed', async () => {
    const kubeconfig = parse(await readFile(await plane.issueBootstrapKubeconfig(), 'utf8')) as {
      readonly users: readonly { readonly user: { readonly token: string } }[]
    }
    const token = kubeconfig.users[0]?.user.token ?? ''
    const bootstrap = createApiClient(plane.url, { token }, plane.certificates.ca)
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    const { user, groups } = nodeUser('node-new')
    const { request, key } = await createSigningRequest(user, groups)
    await bootstrap.create(path, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'node-new' },
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
        request: Buffer.from(request).toString('base64'),
      },
    })
    let certificate = ''
    const signed = async (): Promise<boolean> => {
      const answer = await bootstrap.getObject<{ readonly status?: { readonly certificate?: string } }>(
        `${path}/node-new`,
      )
      certificate = Buffer.from(answer?.status?.certificate ?? '', 'base64').toString()
      return certificate !== ''
    }
    await waitUntil('the certificate is signed', signed, { timeoutMs: WAIT_MS })
    const joined = createApiClient(plane.url, { certificate, key }, plane.certificates.ca)
    await joined.create('/api/v1/nodes', node('node-new'))
  })
}

async function checkAudit(context: UnitContext, plane: ControlPlane): Promise<void> {
  await context.check('the audit log has one line for each request of a node', async () => {
    const user = nodeUser(nodeName).user
    const lines = (await readFile(plane.auditLog ?? '', 'utf8')).split('\n').filter((l) => l !== '')
    const events = lines.map(
      (l) => JSON.parse(l) as { readonly user: { readonly username: string }; readonly verb: string },
    )
    const own = events.filter((e) => e.user.username === user).map((e) => e.verb)
    assert.deepEqual(own.filter((v) => v === 'create').length, 2)
  })
}

/** A second control plane in a process that is killed without warning. */
async function checkKilled(context: UnitContext): Promise<void> {
  await context.check('a run that is killed leaves no process', async () => {
    const directory = join(context.directory, 'killed')
    const binaries = Object.fromEntries(controlPlanePeers.map((name) => [name, context.peer(name)]))
    const program = new URL('../cluster/start-and-wait.ts', import.meta.url).pathname
    const run = startDaemon(
      process.execPath,
      ['--import', 'tsx', program, JSON.stringify({ directory, binaries })],
      { logFile: join(context.directory, 'killed.log') },
    )
    const up = async (): Promise<boolean> => (await readFile(run.logFile, 'utf8')).includes('ready')
    await waitUntil('the second control plane', up, { timeoutMs: 180_000, daemon: run })
    assert.ok(processesNaming(directory).length >= 5)
    process.kill(run.pid, 'SIGKILL')
    const gone = async (): Promise<boolean> => processesNaming(directory).length === 0
    await waitUntil('all of its processes end', gone, { timeoutMs: 10_000 })
    await run.close()
  })
}

export const controlPlane: Unit = {
  name: 'control-plane',
  summary: 'the control plane of tests: identities, certificates, service accounts, audit log, nothing left',
  peers: controlPlanePeers,
  async run(context) {
    const began = Date.now()
    const plane = await startControlPlane({
      binaries: {
        etcd: context.peer('etcd'),
        'kube-apiserver': context.peer('kube-apiserver'),
        'kube-controller-manager': context.peer('kube-controller-manager'),
        'kube-scheduler': context.peer('kube-scheduler'),
      },
      directory: join(context.directory, 'control-plane'),
      auditLog: true,
    })
    context.defer(() => plane.close())
    context.note(`ready after ${((Date.now() - began) / 1000).toFixed(1)} s`)
    await checkIdentities(context, plane)
    await checkPods(context, plane)
    await checkBootstrap(context, plane)
    await checkAudit(context, plane)
    await checkKilled(context)
  },
}

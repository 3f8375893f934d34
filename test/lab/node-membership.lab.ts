// `keelson kubelet` as a node of a real control plane: etcd, API server with Node authorizer and NodeRestriction, and
// controller manager. Only the runtime is scripted, so that it can be ill on demand.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeNode, Lease } from '../../src/core/kube/objects.js'
import { type KubeletProcess, startKubeletProcess } from '../kubelet/kubelet-process.js'
import { ask } from '../serve/client.js'
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
  plane = await startRealControlPlane({ auditLog: true })
})
afterAll(async () => {
  await plane?.close()
  await bundle.remove()
})

const kubeconfigOf = async (nodeName: string): Promise<string> =>
  plane.throughProxy(await plane.issueNodeKubeconfig(nodeName))

async function withNode(
  nodeName: string,
  flags: readonly string[],
  look: (kubelet: KubeletProcess) => Promise<void>,
): Promise<void> {
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: runtimeScripts,
    flags: [...memberFlags(nodeName), `--kubeconfig=${await kubeconfigOf(nodeName)}`, ...flags],
  })
  try {
    await look(kubelet)
  } catch (e) {
    console.log(kubelet.output())
    throw e
  } finally {
    await kubelet.remove()
  }
}

const nodeOf = (name: string): Promise<KubeNode | undefined> => plane.node(name)
const becomes = (name: string, status: string) => plane.becomes(name, status)
const leaseOf = async (name: string): Promise<Lease | undefined> =>
  plane.client.getObject<Lease>(`/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`)
const readyOf = async (name: string) =>
  (await nodeOf(name))?.status?.conditions?.find((c) => c.type === 'Ready')

interface EventObject {
  readonly reason: string
  readonly message: string
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid?: string }
}
async function eventsOf(name: string): Promise<readonly EventObject[]> {
  const list = await plane.client.getObject<{ items: EventObject[] }>('/api/v1/namespaces/default/events')
  return (list?.items ?? []).filter((e) => e.involvedObject.kind === 'Node' && e.involvedObject.name === name)
}

/** Of a service account that may do everything: a member knows its callers by the API server alone. */
async function issueToken(): Promise<string> {
  const apiGroup = 'rbac.authorization.k8s.io'
  await plane.client.create(`/apis/${apiGroup}/v1/clusterrolebindings`, {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'default-admin' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'default' }],
  })
  const secrets = '/api/v1/namespaces/default/secrets'
  const metadata = {
    name: 'default-token',
    annotations: { 'kubernetes.io/service-account.name': 'default' },
  }
  await plane.client.create(secrets, { metadata, type: 'kubernetes.io/service-account-token' })
  // The controller manager writes it.
  const read = async (): Promise<string | undefined> =>
    (await plane.client.getObject<{ data?: { token?: string } }>(`${secrets}/default-token`))?.data?.token
  await expect.poll(read, { timeout: 30_000 }).toBeDefined()
  return Buffer.from((await read()) ?? '', 'base64').toString()
}

describe('a node of a real control plane', () => {
  test('registers itself: every field, Ready, Lease with its owner, events with the real uid, addresses of pods to the runtime', async () => {
    await withNode(
      'node-a',
      [
        '--node-labels=example.com/rack=r7,topology.kubernetes.io/zone=z1',
        '--register-with-taints=dedicated=gpu:NoSchedule',
        '--provider-id=metal://7',
        '--kube-reserved=cpu=100m,memory=64Mi',
      ],
      async (kubelet) => {
        await becomes('node-a', 'True')
        const node = await nodeOf('node-a')
        expect(node?.metadata?.labels).toMatchObject({
          'kubernetes.io/hostname': 'node-a',
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'beta.kubernetes.io/os': 'linux',
          'beta.kubernetes.io/arch': 'amd64',
          'example.com/rack': 'r7',
          'topology.kubernetes.io/zone': 'z1',
        })
        expect(node?.metadata?.annotations).toMatchObject({
          'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
        })
        expect(node?.spec).toMatchObject({ providerID: 'metal://7' })
        expect(node?.spec?.taints).toContainEqual({ key: 'dedicated', value: 'gpu', effect: 'NoSchedule' })
        const { status } = node ?? {}
        expect(status?.nodeInfo).toMatchObject({
          containerRuntimeVersion: 'containerd://2.1.4',
          kubeletVersion: expect.stringMatching(/^v1\.37\.1\+keelson\.\d/),
          kubeProxyVersion: '',
          operatingSystem: 'linux',
          architecture: 'amd64',
        })
        expect(status?.daemonEndpoints).toEqual({ kubeletEndpoint: { Port: kubelet.port } })
        expect(status?.images).toEqual([
          { names: ['large:1'], sizeBytes: 20 },
          { names: ['small@sha256:1', 'small:1'], sizeBytes: 10 },
        ])
        expect(status?.runtimeHandlers).toEqual([
          { name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: false } },
          { name: 'runc', features: { recursiveReadOnlyMounts: true, userNamespaces: true } },
        ])
        expect(status?.features).toEqual({ supplementalGroupsPolicy: true })
        expect(status?.conditions?.map((c) => `${c.type} ${c.status} ${c.reason}`)).toEqual([
          'MemoryPressure False KubeletHasSufficientMemory',
          'DiskPressure False KubeletHasNoDiskPressure',
          'PIDPressure False KubeletHasSufficientPID',
          'Ready True KubeletReady',
        ])
        expect(Object.keys(status?.capacity ?? {})).toEqual(
          expect.arrayContaining(['cpu', 'memory', 'pods', 'ephemeral-storage']),
        )
        await expect.poll(async () => (await leaseOf('node-a'))?.spec?.holderIdentity).toBe('node-a')
        const lease = await leaseOf('node-a')
        expect(lease?.spec?.leaseDurationSeconds).toBe(40)
        expect(lease?.metadata?.ownerReferences).toEqual([
          { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: node?.metadata?.uid },
        ])
        await expect
          .poll(async () => (await eventsOf('node-a')).map((e) => e.reason))
          .toEqual(
            expect.arrayContaining([
              'Starting',
              'NodeHasSufficientMemory',
              'NodeHasNoDiskPressure',
              'NodeHasSufficientPID',
            ]),
          )
        expect(
          new Set(
            (await eventsOf('node-a'))
              .filter((e) => e.reason !== 'RegisteredNode')
              .map((e) => e.involvedObject.uid),
          ),
        ).toEqual(new Set([node?.metadata?.uid]))
        // The controller manager gives the range; the kubelet hands it on.
        await expect
          .poll(() => kubelet.runtime.callsOf('UpdateRuntimeConfig').length, { timeout: 40_000 })
          .toBe(1)
        const token = await issueToken()
        const { body } = await ask({ port: kubelet.port, path: '/live/snapshot', token })
        expect(JSON.parse(body).cluster.data).toMatchObject({
          ready: 'True',
          isSchedulable: true,
          problems: [],
        })
        expect(await kubelet.end()).toBe(0)
      },
    )
  })

  test('a Node that is there is brought into line: what an administrator set stays', async () => {
    await plane.client.create('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'node-b',
        labels: { 'kubernetes.io/hostname': 'wrong', team: 'a' },
        annotations: { note: 'x' },
      },
      spec: { taints: [{ key: 'kept', effect: 'NoSchedule' }], unschedulable: true },
    })
    await withNode(
      'node-b',
      ['--register-with-taints=other=x:NoSchedule', '--node-labels=example.com/new=y'],
      async () => {
        await becomes('node-b', 'True')
        const node = await nodeOf('node-b')
        expect(node?.metadata?.labels).toMatchObject({
          'kubernetes.io/hostname': 'node-b',
          team: 'a',
          'kubernetes.io/os': 'linux',
        })
        expect(node?.metadata?.labels).not.toHaveProperty('example.com/new')
        expect(node?.metadata?.annotations).toMatchObject({ note: 'x' })
        expect(node?.spec?.taints?.map((t) => t.key)).toContain('kept')
        expect(node?.spec?.taints?.map((t) => t.key)).not.toContain('other')
        await expect
          .poll(async () => (await eventsOf('node-b')).map((e) => e.reason))
          .toContain('NodeNotSchedulable')
      },
    )
  })

  test('a runtime that dies makes the node NotReady with the reason, and Ready again when it is back', async () => {
    await withNode('node-c', ['--node-status-update-frequency=2s'], async (kubelet) => {
      await becomes('node-c', 'True')
      kubelet.runtime.script('Status', {
        value: {
          status: {
            conditions: [
              { type: 'RuntimeReady', status: true },
              {
                type: 'NetworkReady',
                status: false,
                reason: 'NetworkPluginNotReady',
                message: 'cni plugin not initialized',
              },
            ],
          },
        },
      })
      await becomes('node-c', 'False')
      expect(await readyOf('node-c')).toMatchObject({
        reason: 'KubeletNotReady',
        message:
          'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized',
      })
      kubelet.runtime.script('Status', runtimeScripts.Status)
      await becomes('node-c', 'True')
      await kubelet.runtime.stop()
      await becomes('node-c', 'False')
      expect((await readyOf('node-c'))?.message).toBe('container runtime is down')
      await kubelet.runtime.start()
      await becomes('node-c', 'True')
      await expect
        .poll(async () => (await eventsOf('node-c')).map((e) => e.reason))
        .toEqual(expect.arrayContaining(['NodeNotReady', 'NodeReady']))
    })
  })

  test('a Node that is deleted is registered again, and its Lease has the new owner', async () => {
    await withNode('node-d', ['--node-status-update-frequency=2s'], async () => {
      await becomes('node-d', 'True')
      const before = (await nodeOf('node-d'))?.metadata?.uid
      await plane.client.remove('/api/v1/nodes/node-d')
      await expect
        .poll(async () => (await nodeOf('node-d'))?.metadata?.uid, { timeout: 30_000 })
        .not.toBe(before)
      await becomes('node-d', 'True')
      const uid = (await nodeOf('node-d'))?.metadata?.uid
      expect(uid).not.toBe(before)
      await expect
        .poll(async () => (await leaseOf('node-d'))?.metadata?.ownerReferences?.[0]?.uid, { timeout: 30_000 })
        .toBe(uid)
    })
  })

  test('an identity of another node may do nothing, and the kubelet says so without its secrets', async () => {
    const kubelet = await startKubeletProcess(bundle.main, {
      scripts: runtimeScripts,
      flags: [...memberFlags('node-e'), `--kubeconfig=${await kubeconfigOf('node-other')}`, '--v=4'],
    })
    try {
      await kubelet.says('the Node cannot be registered; retrying')
      expect(kubelet.output()).toMatch(/is not allowed to modify node|forbidden/)
      expect(kubelet.output()).not.toMatch(/PRIVATE KEY|BEGIN CERTIFICATE|Bearer /)
      expect(await nodeOf('node-e')).toBeUndefined()
    } finally {
      await kubelet.remove()
    }
  })

  test('at rest: the Lease each 10 s, no status, one watch', async () => {
    await withNode('node-f', [], async () => {
      await becomes('node-f', 'True')
      await sleep(15_000)
      const from = Date.now()
      await sleep(60_000)
      const calls = (await auditOf('system:node:node-f')).filter((c) => c.at >= from)
      const counts = Object.fromEntries(
        [...new Set(calls.map(keyOf))].map((key) => [key, calls.filter((c) => keyOf(c) === key).length]),
      )
      expect(counts['update leases']).toBeGreaterThanOrEqual(5)
      expect(counts['update leases']).toBeLessThanOrEqual(7)
      expect(Object.keys(counts).filter((key) => key !== 'update leases')).toEqual([])
    })
  })

  test('being a member costs at most 20 MiB of resident memory', async () => {
    const standalone = await startKubeletProcess(bundle.main, {
      scripts: runtimeScripts,
      flags: memberFlags('node-alone'),
    })
    try {
      await withNode('node-g', [], async (member) => {
        await becomes('node-g', 'True')
        const differences: number[] = []
        for (let i = 0; i < 30; i++) {
          await sleep(2_000)
          differences.push(residentMiB(member) - residentMiB(standalone))
        }
        const median = differences.toSorted((a, b) => a - b)[15] ?? Number.NaN
        console.log(
          `membership: +${median.toFixed(1)} MiB (${residentMiB(standalone).toFixed(1)} MiB standalone)`,
        )
        expect(median).toBeLessThanOrEqual(20)
      })
    } finally {
      await standalone.remove()
    }
  })
})

const residentMiB = ({ process: { pid } }: KubeletProcess): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const keyOf = (c: AuditedCall): string => `${c.verb} ${c.resource}`

interface AuditedCall {
  readonly at: number
  readonly verb: string
  readonly resource: string
}

async function auditOf(user: string): Promise<readonly AuditedCall[]> {
  const text = await readFile(plane.auditLog ?? '', 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter((entry) => entry.user.username === user)
    .map((entry) => ({
      at: Date.parse(entry.requestReceivedTimestamp),
      verb: entry.verb,
      resource: [entry.objectRef?.resource, entry.objectRef?.subresource].filter(Boolean).join('/'),
    }))
}

// Pods that claim to be others. The whole way: a real HTTP server lists the pods, the companion's source reads them, and the
// engine writes to a cgroup tree in memory. Whatever one pod says of itself, the files of another hold that one's values.
import { afterEach, describe, expect, test } from 'vitest'
import { createKubeletApi, createKubeletPods } from '../../src/adapters/kubeapi/kubelet-api.js'
import { createPodWatch } from '../../src/adapters/kubeapi/pod-watch.js'
import type { PodResources } from '../../src/core/pod/pod.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createPodList } from '../../src/memory-qos/companion/pod-list.js'
import { parseActuatedPod } from '../../src/memory-qos/decide/actuated-pod.js'
import { createMemoryQos, type MemoryQos } from '../../src/memory-qos/memory-qos.js'
import type { PodSource } from '../../src/ports/pod-source.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { stubClient } from '../support/kube-client.js'
import { startApiStub } from './api-stub.js'
import { hard, type MemoryFixture, mib, startFixture } from './fixture.js'

const victimUid = '6f1d3b52-0c6e-4f0e-9d0a-7b1f0a6f9c11'
const evilUid = '0a0a0a0a-1111-4222-8333-444444444444'
const staticUid = '0123456789abcdef0123456789abcdef'
const mirrorUid = 'aaaaaaaa-1111-4222-8333-444444444444'
const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node', controller: true }]

interface Given {
  readonly namespace?: string
  readonly annotations?: object
  readonly ownerReferences?: readonly object[]
}

const object = (name: string, uid: string, request: string, limit: string, given: Given = {}): object => ({
  metadata: { name, namespace: 'default', uid, ...given },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'app', resources: { requests: { memory: request }, limits: { memory: limit } } }],
  },
  status: { phase: 'Running' },
})
const victim = object('victim', victimUid, '1Gi', '2Gi')
const evil = (given: Given): object => object('evil', evilUid, '1Mi', '4Mi', given)
/** As the node runs it, whatever its annotations say. */
const running = (pod: object, uid?: string): PodResources => {
  const { staticUid: _, ...plain } = parseActuatedPod(pod)
  return { ...plain, uid: uid ?? plain.uid }
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Node {
  readonly fixture: MemoryFixture
  readonly memoryQos: MemoryQos
  readonly log: FakeLog
  values(pod: PodResources): readonly (string | undefined)[]
}

async function start(
  from: 'api' | 'kubelet',
  listed: readonly object[],
  ran: readonly PodResources[],
): Promise<Node> {
  const fixture = await startFixture(hard)
  for (const pod of ran) await fixture.run(pod)
  const stub = await startApiStub()
  closing.push(() => stub.close())
  listed.forEach((pod, i) => {
    stub.put(String(i), pod)
  })
  const log = new FakeLog()
  const source: PodSource =
    from === 'api'
      ? createPodWatch(stubClient({ url: stub.url, log }), 'n1')
      : createKubeletPods({
          api: createKubeletApi({ url: stub.url }),
          clock: fixture.clock,
          log,
          periodMs: 1000,
        })
  const { signal } = new AbortController()
  await source.refresh(signal)
  const { pods: _, ...node } = fixture.input
  const memoryQos = createMemoryQos({
    cgroups: fixture.cgroups,
    runtime: fixture.runtime,
    clock: fixture.clock,
    timeoutMs: 1000,
    ownsOtherFiles: () => false,
    log,
    metrics: await createProcessMetrics({ processDefaults: false }),
    event: () => undefined,
    node: () => node,
    pods: createPodList(source, log),
    signal,
  })
  const values = (pod: PodResources): readonly (string | undefined)[] =>
    ['memory.min', 'memory.low', 'memory.high'].map((f) => fixture.text(fixture.containerPath(pod, 'app'), f))
  return { fixture, memoryQos, log, values }
}

const ofVictim = [mib(1024), '0', '2040107008']

const attacks: readonly (readonly [string, Given])[] = [
  ['config.hash', { annotations: { 'kubernetes.io/config.hash': victimUid } }],
  ['config.mirror', { annotations: { 'kubernetes.io/config.mirror': victimUid } }],
  [
    'config.mirror and a node as its owner',
    { annotations: { 'kubernetes.io/config.mirror': victimUid }, ownerReferences: owners },
  ],
  [
    'config.hash with config.source',
    { annotations: { 'kubernetes.io/config.hash': victimUid, 'kubernetes.io/config.source': 'file' } },
  ],
]
describe('a pod that names the uid of another in its annotations: the other keeps its protection', () => {
  for (const [what, given] of attacks)
    for (const order of ['before', 'after'] as const)
      test(`${what}, listed ${order} the other`, async () => {
        const pods = order === 'before' ? [evil(given), victim] : [victim, evil(given)]
        const ran = [running(victim), running(evil(given))]
        const node = await start('api', pods, ran)
        await node.memoryQos.passNow()
        expect(node.values(running(victim))).toEqual(ofVictim)
        // The pod itself is served like any other.
        expect(node.values(running(evil(given)))[0]).toBe(mib(1))
      })

  test('a node as its owner: it is reported by name', async () => {
    const node = await start('api', [victim, evil(attacks[2]?.[1] ?? {})], [running(victim)])
    await node.memoryQos.passNow()
    expect(node.memoryQos.findings()).toContainEqual(
      expect.objectContaining({ id: 'pod-refused', subject: 'pod default/evil' }),
    )
  })
})

describe('a static pod through its mirror pod', () => {
  const given: Given = { annotations: { 'kubernetes.io/config.mirror': staticUid }, ownerReferences: owners }
  const mirror = object('etcd-n1', mirrorUid, '1Gi', '2Gi', { ...given, namespace: 'kube-system' })
  const ran = running(mirror, staticUid)

  test('gets the values of its manifest in the cgroup of its hash', async () => {
    const node = await start('api', [mirror], [ran])
    await node.memoryQos.passNow()
    expect(node.values(ran)).toEqual(ofVictim)
    expect(node.memoryQos.findings().filter((f) => f.id === 'pod-refused')).toEqual([])
  })

  for (const order of ['before', 'after'] as const)
    test(`another pod that passes itself off as its mirror, listed ${order} it, changes nothing`, async () => {
      const fake = evil(given)
      const node = await start('api', order === 'before' ? [fake, mirror] : [mirror, fake], [ran])
      await node.memoryQos.passNow()
      expect(node.values(ran)).toEqual(ofVictim)
      expect(node.memoryQos.findings()).toContainEqual(
        expect.objectContaining({ id: 'pod-refused', subject: 'pod default/evil' }),
      )
    })
})

describe('one pod with an impossible uid does not stop the others', () => {
  const values = ['a/b', 'x'.repeat(300), 'nul\0', ' ', 'a b', '..']
  for (const value of values)
    test(`in annotations: ${JSON.stringify(value.slice(0, 10))}`, async () => {
      for (const name of ['config.hash', 'config.mirror']) {
        const given = { annotations: { [`kubernetes.io/${name}`]: value }, ownerReferences: owners }
        const node = await start('api', [evil(given), victim], [running(victim)])
        await node.memoryQos.passNow()
        expect(node.values(running(victim))).toEqual(ofVictim)
      }
    })
  for (const value of values)
    test(`as the uid of a manifest: ${JSON.stringify(value.slice(0, 10))}`, async () => {
      const bad = object('bad', value, '1Mi', '4Mi', {
        annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': value },
      })
      const node = await start('kubelet', [bad, victim], [running(victim)])
      await node.memoryQos.passNow()
      expect(node.values(running(victim))).toEqual(ofVictim)
      if (value !== '..')
        expect(node.memoryQos.findings()).toContainEqual(
          expect.objectContaining({ id: 'pod-skipped', subject: 'pod default/bad' }),
        )
    })

  test('a pod that cannot be read is named once, however often it is listed', async () => {
    const bad = { ...object('odd', 'u', '-1', '4Mi') }
    const node = await start('kubelet', [bad, victim], [running(victim)])
    for (let i = 0; i < 3; i += 1) await node.memoryQos.passNow()
    expect(node.values(running(victim))).toEqual(ofVictim)
    const said = node.log.lines.filter((l) => l.message.startsWith('ignoring a pod'))
    expect(said.map((l) => l.fields['pod'])).toEqual(['default/odd'])
  })
})

test('a pod of the API that calls itself static is not critical', () => {
  const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.mirror': 'x' }
  expect([...parseActuatedPod(evil({ annotations })).annotations.keys()]).toEqual([])
  expect(parseActuatedPod(evil({ annotations })).staticUid).toBeUndefined()
})

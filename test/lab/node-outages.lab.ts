// A node whose way to the API server fails: cut, silent, slow, flapping. Its pods and endpoints go on, and it catches up. How long
// the faults last can be asked for: KEELSON_FAULT_MINUTES, 2 when not set.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Lease } from '../../src/core/kube/objects.js'
import { createRandom } from '../fuzz/random.js'
import { type KubeletProcess, startKubeletProcess } from '../kubelet/kubelet-process.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import {
  memberFlags,
  type RealControlPlane,
  runtimeScripts,
  startRealControlPlane,
} from '../support/real-control-plane.js'

const minutes = Number(process.env.KEELSON_FAULT_MINUTES ?? 2)
const timeout = (minutes + 5) * 60_000

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

async function withNode(name: string, look: (kubelet: KubeletProcess) => Promise<void>): Promise<void> {
  plane.proxy.set('none')
  const kubeconfig = await plane.throughProxy(await plane.issueNodeKubeconfig(name))
  const kubelet = await startKubeletProcess(bundle.main, {
    scripts: runtimeScripts,
    flags: [...memberFlags(name), `--kubeconfig=${kubeconfig}`],
  })
  try {
    await plane.becomes(name, 'True')
    await expect.poll(() => renewedAt(name)).toBeGreaterThan(0)
    await look(kubelet)
  } catch (e) {
    console.log(kubelet.output())
    throw e
  } finally {
    plane.proxy.set('none')
    await kubelet.remove()
  }
}

const healthOf = async ({ healthPort }: KubeletProcess): Promise<number> =>
  (await fetch(`http://127.0.0.1:${healthPort}/healthz`)).status

async function renewedAt(name: string): Promise<number> {
  const lease = await plane.client.getObject<Lease>(
    `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${name}`,
  )
  return Date.parse(lease?.spec?.renewTime ?? '')
}

/** The watch of its own Node works: it tells of a change that only the watch brings. */
async function watchWorks(name: string, unschedulable: boolean): Promise<void> {
  await plane.client.patch(`/api/v1/nodes/${name}`, { spec: { unschedulable } })
  const reason = unschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable'
  const reasons = async () => {
    const list = await plane.client.getObject<{
      items: { reason: string; involvedObject: { name: string } }[]
    }>('/api/v1/namespaces/default/events')
    return (list?.items ?? []).filter((e) => e.involvedObject.name === name).map((e) => e.reason)
  }
  await expect.poll(reasons, { timeout: 60_000 }).toContain(reason)
}

for (const fault of ['refuse', 'silent'] as const)
  test(
    `the API server is gone for ${minutes} minutes (${fault}): marked Unknown, endpoints go on, Ready again at once`,
    { timeout },
    () =>
      withNode(`gone-${fault}`, async (kubelet) => {
        const name = `gone-${fault}`
        plane.proxy.set(fault)
        await plane.becomes(name, 'Unknown', 120_000)
        const end = Date.now() + (minutes - 1) * 60_000
        while (Date.now() < end) {
          expect(await healthOf(kubelet)).toBe(200)
          await sleep(5_000)
        }
        plane.proxy.set('none')
        const back = Date.now()
        await plane.becomes(name, 'True', 60_000)
        // Said once when it stopped and once when it answered again, however long it took.
        expect(kubelet.output().match(/a heartbeat to the API server failed; pods go on/g)).toHaveLength(1)
        await kubelet.says('the API server answers heartbeats again')
        expect(Date.now() - back).toBeLessThan(30_000)
        await watchWorks(name, true)
      }),
  )

test('five seconds for each answer: stays Ready, heartbeats do not fail', { timeout }, () =>
  withNode('slow', async (kubelet) => {
    plane.proxy.set('slow', 5_000)
    const end = Date.now() + minutes * 60_000
    while (Date.now() < end) {
      await sleep(5_000)
      await plane.becomes('slow', 'True', 1_000)
      expect(Date.now() - (await renewedAt('slow'))).toBeLessThan(40_000)
    }
    expect(kubelet.output()).not.toContain('a heartbeat to the API server failed')
  }),
)

test(
  `Ready for ${minutes} minutes under faults by chance: cuts, refusals, silence, slowness`,
  { timeout },
  () =>
    withNode('flapping', async (kubelet) => {
      const random = createRandom(7)
      const end = Date.now() + minutes * 60_000
      const seen = new Set<string>()
      while (Date.now() < end) {
        plane.proxy.set(random.pick(['none', 'refuse', 'silent', 'slow']), 2_000)
        await sleep(1_000 + random.below(14_000))
        plane.proxy.set('none')
        if (random.chance(50)) plane.proxy.cut()
        await sleep(1_000 + random.below(9_000))
        const node = await plane.node('flapping')
        seen.add(node?.status?.conditions?.find((c) => c.type === 'Ready')?.status ?? 'none')
        expect(Date.now() - (await renewedAt('flapping'))).toBeLessThan(45_000)
        expect(await healthOf(kubelet)).toBe(200)
      }
      expect([...seen]).toEqual(['True'])
      plane.proxy.set('none')
      await watchWorks('flapping', true)
    }),
)

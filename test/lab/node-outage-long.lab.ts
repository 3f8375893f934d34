// The API server is unreachable for ten minutes, as the clock on the wall has it: five minutes refused, five silent. What runs
// goes on and is restarted, what was asked for meanwhile happens when it answers again. KEELSON_FAULT_MINUTES: another length.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { KubePod } from '../../src/core/kube/objects.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState } from '../../src/fakes/cri/node-state.js'
import { type KubeletProcess, startKubeletProcess } from '../kubelet/kubelet-process.js'
import { type Bundle, bundleCommand } from '../support/command.js'
import {
  memberFlags,
  type RealControlPlane,
  runtimeScripts,
  startRealControlPlane,
} from '../support/real-control-plane.js'

const minutes = Number(process.env.KEELSON_FAULT_MINUTES ?? 10)
const name = 'outage-1'
const base = '/api/v1/namespaces/default'
const image = 'keelson.local/app:1'
const state = createNodeState({ images: [image] })
const { GetContainerEvents: _, ...answers } = nodeAnswers(state)

let bundle: Bundle
let plane: RealControlPlane
let kubelet: KubeletProcess
beforeAll(async () => {
  bundle = await bundleCommand()
  plane = await startRealControlPlane()
  const kubeconfig = await plane.throughProxy(await plane.issueNodeKubeconfig(name))
  kubelet = await startKubeletProcess(bundle.main, {
    scripts: { ...runtimeScripts, ...answers },
    flags: [
      ...memberFlags(name),
      `--kubeconfig=${kubeconfig}`,
      // Pods of this test are in cgroups of their own.
      '--cgroups-per-qos=false',
      '--enforce-node-allocatable=',
    ],
  })
  const account = () => plane.client.getObject(`${base}/serviceaccounts/default`)
  await vi.waitUntil(async () => (await account()) !== undefined, { timeout: 60_000, interval: 200 })
})
afterAll(async () => {
  await kubelet?.remove()
  await plane?.close()
  await bundle.remove()
})

const create = (pod: string): Promise<void> =>
  plane.client.create(`${base}/pods`, {
    metadata: { name: pod },
    spec: {
      nodeName: name,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'app', image }],
    },
  })
const get = (pod: string): Promise<KubePod | undefined> =>
  plane.client.getObject<KubePod>(`${base}/pods/${pod}`)
const running = (pod: string): string[] =>
  [...state.containers.values()]
    .filter((c) => state.sandboxes.get(c.sandboxId)?.config.metadata?.name === pod && c.status.state === 1)
    .map((c) => c.status.id)
const restartsOf = async (pod: string): Promise<number | undefined> =>
  (
    (await get(pod))?.status as { containerStatuses?: { restartCount: number }[] } | undefined
  )?.containerStatuses?.at(0)?.restartCount
const phaseOf = async (pod: string): Promise<unknown> => (await get(pod))?.status?.phase

test(`${minutes} minutes without an API server`, { timeout: (minutes + 8) * 60_000 }, async () => {
  try {
    await plane.becomes(name, 'True')
    for (const pod of ['stays', 'goes']) await create(pod)
    for (const pod of ['stays', 'goes'])
      await expect.poll(() => phaseOf(pod), { timeout: 60_000 }).toBe('Running')

    const began = Date.now()
    plane.proxy.set('refuse')
    await plane.becomes(name, 'Unknown', 120_000)
    await plane.client.remove(`${base}/pods/goes`)
    await create('comes')
    const [first = ''] = running('stays')
    state.exitContainer(first, { exitCode: 1 })
    await expect.poll(() => running('stays').filter((id) => id !== first).length, { timeout: 60_000 }).toBe(1)

    let silent = false
    while (Date.now() - began < minutes * 60_000) {
      if (!silent && Date.now() - began > minutes * 30_000) {
        plane.proxy.set('silent')
        silent = true
      }
      expect((await fetch(`http://127.0.0.1:${kubelet.healthPort}/healthz`)).status).toBe(200)
      expect([running('stays').length, running('goes').length, running('comes').length]).toEqual([1, 1, 0])
      await sleep(5_000)
    }
    expect(Date.now() - began).toBeGreaterThanOrEqual(minutes * 60_000)
    expect(kubelet.output().match(/a heartbeat to the API server failed; pods go on/g)).toHaveLength(1)

    const back = Date.now()
    plane.proxy.set('none')
    await plane.becomes(name, 'True', 60_000)
    await expect.poll(() => phaseOf('comes'), { timeout: 60_000 }).toBe('Running')
    await expect.poll(() => get('goes'), { timeout: 60_000 }).toBeUndefined()
    await expect.poll(() => restartsOf('stays'), { timeout: 60_000 }).toBe(1)
    console.log(`caught up ${((Date.now() - back) / 1000).toFixed(1)} s after the API server answered again`)
    expect(running('stays')).toHaveLength(1)
  } catch (e) {
    console.log(kubelet.output())
    throw e
  }
})

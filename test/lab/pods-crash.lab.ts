// The kubelet and the runtime die at any moment; pods go on, nothing is started twice and nothing is left behind.
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { forever, type PodNode, shell, until } from '../kubelet/node.js'
import { endPods, running, useNode } from '../kubelet/use-node.js'

const node = useNode()

const ids = async (n: PodNode, name?: string): Promise<string[]> =>
  (await n.containers(name))
    .map((c) => `${c.metadata?.name}#${c.metadata?.attempt} ${c.id} ${c.state}`)
    .sort()

/** An init container, a sidecar and an app, each of which takes a moment. */
const threeStages = {
  terminationGracePeriodSeconds: 3,
  initContainers: [shell('i', 'sleep 0.15'), shell('s', forever, { restartPolicy: 'Always' })],
  containers: [shell('app', forever), shell('b', forever)],
  volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }],
}

describe('the kubelet is restarted', () => {
  test('POD-70 it takes over what runs: no container is restarted', async () => {
    await node().pod('adopt', threeStages)
    await running(node(), 'adopt')
    const before = await ids(node(), 'adopt')
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await node().stop(signal)
      await node().start()
      await running(node(), 'adopt')
      await sleep(1500)
      expect(await ids(node(), 'adopt')).toEqual(before)
      expect(node().log()).toContain('adopting a running pod')
    }
    const status = (await node().podNamed('adopt'))?.status
    expect(status?.containerStatuses.map((c) => c.restartCount)).toEqual([0, 0])
    await endPods(node(), 'adopt')
  })

  test('POD-71 manifests that changed or went while it was away', async () => {
    await node().pod('stays', { containers: [shell('app', forever)] })
    await node().pod('goes', { terminationGracePeriodSeconds: 1, containers: [shell('app', forever)] })
    await node().pod('changes', { containers: [shell('app', `echo old; ${forever}`)] })
    for (const name of ['stays', 'goes', 'changes']) await running(node(), name)
    const stays = await ids(node(), 'stays')
    await node().stop('SIGKILL')
    await node().removeManifest('goes.yaml')
    await node().pod('changes', { containers: [shell('app', `echo new; ${forever}`)] })
    await node().pod('comes', { containers: [shell('app', forever)] })
    await node().start()
    await running(node(), 'comes')
    await until(
      'the new one speaks',
      async () => (await node().ask('/containerLogs/default/changes-node-1/app')).body === 'new\n',
    )
    await until('the removed one has gone', async () => (await node().sandboxes('goes')).length === 0)
    expect(await ids(node(), 'stays')).toEqual(stays)
    await endPods(node(), 'stays', 'changes', 'comes')
    expect(await node().leftovers()).toEqual([])
  })

  test('POD-72 a manifest that broke while it was away does not end its pod', async () => {
    await node().pod('broke', { containers: [shell('app', forever)] })
    await running(node(), 'broke')
    const before = await ids(node(), 'broke')
    await node().stop('SIGKILL')
    await node().write('broke.yaml', '{')
    await node().start()
    await sleep(2500)
    expect(await ids(node(), 'broke')).toEqual(before)
    await endPods(node(), 'broke')
  })

  test('POD-73 kill -9 at 50 points of a life: one of each, no restart, nothing left', {
    timeout: 600_000,
  }, async () => {
    const points = 50
    const restarted: string[] = []
    for (let i = 0; i < points; i += 1) {
      const inStart = i % 2 === 0
      // Spread over what the whole start or end takes here, the first moments included.
      const delayMs = Math.round((i / points) * 1200)
      const name = `kill${i}`
      await node().pod(name, threeStages)
      if (inStart) await sleep(delayMs)
      else {
        await running(node(), name)
        await node().removeManifest(`${name}.yaml`)
        await sleep(delayMs)
      }
      await node().stop('SIGKILL')
      await node().start()
      if (inStart) {
        await running(node(), name)
        const containers = await node().containers(name)
        const alive = containers.filter((c) => c.state === 1).map((c) => c.metadata?.name)
        expect(alive.toSorted(), `point ${i}`).toEqual(['app', 'b', 's'])
        const again = containers.filter((c) => (c.metadata?.attempt ?? 0) > 0)
        restarted.push(...again.map((c) => `point ${i}: ${c.metadata?.name}#${c.metadata?.attempt}`))
        expect(
          (await node().sandboxes(name)).filter((s) => s.state === 0),
          `point ${i}`,
        ).toHaveLength(1)
        await node().removeManifest(`${name}.yaml`)
      }
      await until(
        `point ${i}: nothing is left`,
        async () => (await node().sandboxes()).length === 0 && (await node().pods()).length === 0,
        30_000,
      )
      await until(`point ${i}: no trace is left`, async () => (await node().leftovers()).length === 0, 5_000)
    }
    expect(restarted).toEqual([])
  })
})

describe('the runtime is killed', () => {
  test('POD-74 containerd dies under 20 pods, 10 times: they go on, and the kubelet is back within 10 s', {
    timeout: 600_000,
  }, async () => {
    const names = Array.from({ length: 20 }, (_, i) => `many${i}`)
    for (const name of names)
      await node().pod(name, { terminationGracePeriodSeconds: 1, containers: [shell('app', forever)] })
    for (const name of names) await running(node(), name)
    const before = await ids(node())
    const seconds: number[] = []
    for (let i = 0; i < 10; i += 1) {
      await node().containerd.kill('SIGKILL')
      await sleep(300)
      await node().containerd.start()
      const began = performance.now()
      // A pod that is wanted now proves that the kubelet works with the runtime again.
      await node().pod(`probe${i}`, { terminationGracePeriodSeconds: 0, containers: [shell('app', forever)] })
      await running(node(), `probe${i}`)
      seconds.push((performance.now() - began) / 1000)
      expect(seconds.at(-1)).toBeLessThan(10)
      await endPods(node(), `probe${i}`)
      expect(await ids(node())).toEqual(before)
    }
    console.log(`POD-74 back after ${seconds.map((s) => s.toFixed(1)).join(', ')} s`)
    const phases = (await node().pods()).map((p) => p.status.phase)
    expect(phases).toEqual(names.map(() => 'Running'))
    await endPods(node(), ...names)
    expect(await node().leftovers()).toEqual([])
  })
})

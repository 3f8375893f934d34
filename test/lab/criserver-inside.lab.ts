// The CRI server inside the kubelet, on a real containerd that has no metrics of pods: one process gives the kubelet's endpoints and a
// complete CRI for everyone else.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { CgroupDriver } from '../../src/cri-api/api.js'
import { forever, PodNode, shell, until } from '../kubelet/node.js'
import { missingRequirement, requires } from '../support/requirements.js'

const needs = { root: true, packages: ['containerd', 'images'] } as const

let directory = ''
let node: PodNode | undefined
beforeAll(async () => {
  if (missingRequirement(needs) !== undefined) return
  directory = await mkdtemp(join(tmpdir(), 'keelson-inside-'))
  node = await PodNode.create({
    throughCri: false,
    keelsonConfig: `criServer: {listen: "unix://${join(directory, 'cri.sock')}", values: kernel}\n`,
  })
})
afterAll(async () => {
  await node?.close()
  if (directory !== '') await rm(directory, { recursive: true, force: true })
})
beforeEach((ctx) => requires(ctx, needs))

test('one process: the stats of the gate, the socket for others, one page of metrics', {
  timeout: 120_000,
}, async () => {
  if (node === undefined) throw new Error('there is no node')
  const socket = join(directory, 'cri.sock')
  await node.pod('app', { containers: [shell('app', forever)] })
  await node.start(['--feature-gates=PodAndContainerStatsFromCRI=true'])
  const [container] = await until('the pod runs', async () => {
    const found = await node?.containers('app')
    return found?.[0]?.state === 1 ? found : undefined
  })

  // The kubelet: its values come from CRI, and have the pod.
  const ofTheApp = /^container_memory_working_set_bytes\{.*container="app".*\} (?!0 )/m
  await until('metrics of the pod', async () =>
    ofTheApp.test((await node?.ask('/metrics/cadvisor'))?.body ?? ''),
  )
  const { keelson } = JSON.parse((await node.ask('/configz')).body) as {
    keelson: { stats: { stats: { source: string }; metrics: { source: string } } }
  }
  expect(keelson.stats).toMatchObject({ stats: { source: 'cri' }, metrics: { source: 'cri' } })

  // Others: what containerd does not have.
  const others = createCriClient(`unix://${socket}`, { timeoutMs: 10_000 })
  try {
    const { stats } = await others.runtime.listPodSandboxStats({})
    const usage = stats[0]?.linux?.containers.find((c) => c.attributes?.id === container?.id)
    expect(usage?.memory?.workingSetBytes?.value).toBeGreaterThan(0n)
    const [metrics] = await others.metrics.list()
    expect([...(metrics?.containerMetrics[0]?.metrics ?? [])].length).toBeGreaterThan(20)
    const direct = node.cri.metrics.list()
    await expect(direct).rejects.toMatchObject({ code: 'runtime.unimplemented' })
    expect((await others.runtime.runtimeConfig({})).linux?.cgroupDriver).toBe(CgroupDriver.CGROUPFS)
  } finally {
    others.close()
  }
  expect((await node.ask('/metrics')).body).toMatch(
    /^keelson_cri_calls_total\{.*rpc="ListPodSandboxStats".*\} 1$/m,
  )

  await node.stop()
  expect(existsSync(socket)).toBe(false)
  expect((await node.containers('app'))[0]).toMatchObject({ id: container?.id, state: 1 })
})

// Eviction by the whole kubelet, with real pods in a real containerd and real cgroups. The memory of the machine is not used up:
// the threshold is above what it has.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forever, shell, until } from './node.js'
import { endPods, running, useNode } from './use-node.js'

const node = useNode({
  config: 'evictionHard: {}\nvolumeStatsAggPeriod: 1s\n',
  keelsonConfig: 'evictStaticPods: true\nmetrics: {period: 1s}\n',
})

/** A container that ends with 0 makes an evicted pod Succeeded, as upstream; these say that they were cut short. */
const unfinished = forever.replace('exit 0', 'exit 3')
const short = '--eviction-hard=memory.available<99%'
interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string }
    readonly memory?: { readonly workingSetBytes?: number }
  }[]
}

const phaseOf = async (name: string) => (await node().podNamed(name))?.status
const metric = async (): Promise<string> => (await node().ask('/metrics')).body

test('an emptyDir above its sizeLimit: the pod is evicted, its neighbour stays', {
  timeout: 90_000,
}, async () => {
  const volumes = [{ name: 'scratch', emptyDir: { sizeLimit: '1Mi' } }]
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }]
  const fill = (mib: number): string => `dd if=/dev/zero of=/scratch/file bs=1M count=${mib}; ${unfinished}`
  await node().pod('greedy', { volumes, containers: [shell('app', fill(3), { volumeMounts })] })
  await node().pod('modest', {
    volumes,
    containers: [shell('app', `: > /scratch/file; ${forever}`, { volumeMounts })],
  })
  const status = await until(
    'it is evicted',
    async () => {
      const found = await phaseOf('greedy')
      return found?.phase === 'Failed' ? found : undefined
    },
    60_000,
  )
  expect(status).toMatchObject({
    reason: 'Evicted',
    message: 'Usage of EmptyDir volume "scratch" exceeds the limit "1Mi". ',
  })
  expect((await node().ask('/podevents/default/greedy-node-1')).body).toContain('"reason":"Evicted"')
  expect((await phaseOf('modest'))?.phase).toBe('Running')
  expect(await metric()).toContain('kubelet_evictions{eviction_signal="emptydirfs.limit"} 1')
  await endPods(node(), 'greedy', 'modest')
})

test('memory is short: the pod above its request goes first, critical ones never, static ones only when allowed', {
  timeout: 150_000,
}, async () => {
  const hold = 'held=$(head -c 50000000 /dev/zero | tr "\\0" x)'
  await node().pod('hog', { containers: [shell('app', `${hold}; ${unfinished}`)] })
  const requests = { memory: '256Mi' }
  await node().pod('database', { containers: [shell('app', unfinished, { resources: { requests } })] })
  await node().pod('critical', { priority: 2_000_000_000, containers: [shell('app', forever)] })
  for (const name of ['hog', 'database', 'critical']) await running(node(), name)
  await until('the hog holds its memory', async () => {
    const { pods } = JSON.parse((await node().ask('/stats/summary')).body) as Summary
    const hog = pods.find(({ podRef }) => podRef.name === 'hog-node-1')
    return (hog?.memory?.workingSetBytes ?? 0) > 45_000_000
  })
  await node().stop()

  const strict = join(node().directory, 'not-static.yaml')
  await writeFile(
    strict,
    'apiVersion: keelson.dev/v1alpha1\nkind: KeelsonConfiguration\nmetrics: {period: 1s}\n',
  )
  const standalone = await node().start([short, `--keelson-config=${strict}`])
  await standalone.says('no pod can be evicted: those that run are static or critical')
  expect((await node().containers()).filter((c) => c.state === 1)).toHaveLength(3)
  await node().stop()

  const kubelet = await node().start([short])
  await kubelet.says('the node is under pressure')
  const evicted = async (name: string) =>
    until(
      `${name} is evicted`,
      async () => {
        const status = await phaseOf(name)
        return status?.reason === 'Evicted' ? status : undefined
      },
      60_000,
    )
  expect((await evicted('hog')).message).toMatch(
    /^The node was low on resource: memory\. Threshold quantity: \S+, available: \S+\. Container app was using \d+\S*, request is 0, has larger consumption of memory\. $/,
  )
  expect((await evicted('database')).phase).toBe('Failed')
  const order = [...kubelet.output().matchAll(/evicting a pod.*?pod="?default\/(\w+)-node-1/g)].map(
    (m) => m[1],
  )
  expect(order).toEqual(['hog', 'database'])
  await kubelet.says('no pod can be evicted')
  expect((await phaseOf('critical'))?.phase).toBe('Running')
  expect(await metric()).toContain('kubelet_evictions{eviction_signal="memory.available"} 2')
})

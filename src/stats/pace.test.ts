// The pace of the samples, on a node of files under a clock that is moved by hand.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { delivers } from '../../test/support/runtime-values.js'
import { createStatsFixture, podCgroup, type StatsFixture, text } from '../../test/support/stats-fixture.js'
import { web } from '../../test/support/stats-pods.js'

let fixture: StatsFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})

const id = web.containers[0]?.id ?? ''
const samplesIn = async (node: StatsFixture, periods: number): Promise<number> => {
  node.reads.length = 0
  for (let n = 0; n < periods; n++) await node.tick(10_000)
  return node.reads.filter((read) => read.includes(id) && read.endsWith('cpu.stat')).length
}
const cpuSeconds = (metrics: string): number =>
  Number(/^container_cpu_usage_seconds_total\{container="app".* (\S+) \d+$/m.exec(metrics)?.[1])

for (const fromCri of [false, true])
  test(`read every period while somebody asks, once in six while nobody does (gate ${fromCri ? 'on' : 'off'})`, async () => {
    const node = await createStatsFixture({ pods: [web], stats: { fromCri } })
    fixture = node
    await node.stats.cadvisor(0)
    await samplesIn(node, 6)
    expect(await samplesIn(node, 12)).toBe(2)

    // The first answer after a while is of now, for everyone who asks meanwhile.
    const usage = join(node.root, podCgroup(web), id, 'cpu.stat')
    writeFileSync(usage, 'usage_usec 777000000\nuser_usec 700000000\nsystem_usec 77000000\n')
    const answers = await Promise.all([node.stats.cadvisor(1_000), node.stats.cadvisor(1_000)])
    expect(answers.map((answer) => cpuSeconds(text(answer)))).toEqual([777, 777])

    node.reads.length = 0
    let samples = 0
    for (let n = 0; n < 6; n++) {
      samples += await samplesIn(node, 1)
      await node.stats.summary(true, 0)
    }
    expect(samples).toBe(6)
  })

test('the metrics of the runtime are read every period only while somebody reads metrics', async () => {
  const node = await createStatsFixture({
    pods: [web],
    stats: { fromCri: true },
    answers: delivers([web]),
  })
  fixture = node
  const callsIn = async (periods: number, ask: () => Promise<unknown>): Promise<readonly number[]> => {
    node.calls.length = 0
    for (let n = 0; n < periods; n++) {
      await ask()
      await node.tick(10_000)
    }
    return ['listPodSandboxStats', 'listPodSandboxMetrics'].map(
      (method) => node.calls.filter((call) => call === method).length,
    )
  }
  const readStats = () => node.stats.resource(0)
  await callsIn(6, readStats)
  expect(await callsIn(12, readStats)).toEqual([12, 2])
  // The first answer after a while has metrics of now, and stats of the same moment.
  node.calls.length = 0
  await node.stats.cadvisor(1_000)
  expect(node.calls.filter((call) => call.startsWith('listPodSandbox')).toSorted()).toEqual(
    expect.arrayContaining(['listPodSandboxMetrics', 'listPodSandboxStats']),
  )
  expect(node.stats.describe().metrics.source).toBe('cri')
  expect(await callsIn(6, () => node.stats.cadvisor(0))).toEqual([6, 6])
})

test('a runtime that hangs after a pause: the answer comes within its time, from cgroups', async () => {
  const node = await createStatsFixture({
    pods: [web],
    stats: { fromCri: true },
    answers: delivers([web]),
  })
  fixture = node
  await node.stats.cadvisor(0)
  await samplesIn(node, 9)
  expect(node.stats.describe().metrics.source).toBe('cri')

  let end: (reason: Error) => void = () => {}
  const hung = new Promise<never>((_, reject) => {
    end = reject
  })
  hung.catch(() => {})
  for (const method of ['listPodSandboxStats', 'listPodSandboxMetrics']) node.answer(method, () => hung)
  const usage = join(node.root, podCgroup(web), id, 'cpu.stat')
  writeFileSync(usage, 'usage_usec 777000000\nuser_usec 700000000\nsystem_usec 77000000\n')
  const answer = node.stats.cadvisor(1_000)
  for (let waited = 0; waited < 1_000; waited += 250) await node.tick(250)
  expect(cpuSeconds(text(await Promise.race([answer, Promise.resolve([])])))).toBe(777)
  end(new Error('the runtime was ended'))
})

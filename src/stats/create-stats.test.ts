// The whole of the statistics on a node of files, under a clock that is moved by hand: answers compared with stored ones.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { expectGolden } from '../../test/support/golden.js'
import { indentJson } from '../../test/support/indent-json.js'
import {
  createStatsFixture,
  type FixturePod,
  hexId,
  podCgroup,
  type StatsFixture,
  text,
} from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'
import { podsWrittenATurn } from './sample.js'

let fixture: StatsFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})

describe('cgroup source', () => {
  test('the three answers after two samples', async () => {
    fixture = await createStatsFixture({ pods: [web, etcd] })
    const app = join(fixture.root, podCgroup(web), web.containers[0]?.id ?? '', 'cpu.stat')
    writeFileSync(app, 'usage_usec 15345678\nuser_usec 12000001\nsystem_usec 3345677\nnr_periods 612\n')
    await fixture.tick()
    expectGolden('stats/cgroup-cadvisor.txt', text(await fixture.stats.cadvisor(0)))
    expectGolden('stats/cgroup-resource.txt', text(await fixture.stats.resource(0)))
    expectGolden('stats/cgroup-summary.json', indentJson(text(await fixture.stats.summary(true, 0))))
    expectGolden('stats/cgroup-summary-light.json', indentJson(text(await fixture.stats.summary(false, 0))))
  })
})

const copyOfWeb = (i: number): FixturePod => ({
  ...web,
  sandboxId: hexId('b', i),
  name: `web-${i}`,
  uid: `00000000-0000-4000-8000-${i.toString(16).padStart(12, '0')}`,
  pid: 1000 + i,
  containers: web.containers.slice(0, 1).map((c) => ({ ...c, id: hexId('d', i) })),
})

/** How often what else waits for the event loop came first. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isOver = true
  return turns
}

test('requests of others come in between the pods of a long answer', async () => {
  const parts = 4
  const pods = Array.from({ length: parts * podsWrittenATurn }, (_, i) => copyOfWeb(i))
  fixture = await createStatsFixture({ pods })
  await fixture.tick()
  const { stats } = fixture
  for (const answer of [() => stats.cadvisor(0), () => stats.resource(0), () => stats.summary(true, 0)]) {
    expect(await turnsDuring(answer)).toBeGreaterThanOrEqual(parts - 1)
    // From then on it is kept.
    expect(await turnsDuring(answer)).toBeLessThan(parts - 1)
  }
})

// The whole of the statistics on a node of files, under a clock that is moved by hand: answers compared with stored ones.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, test } from 'vitest'
import { expectGolden } from '../../test/support/golden.js'
import { indentJson } from '../../test/support/indent-json.js'
import { createStatsFixture, podCgroup, type StatsFixture, text } from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'

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

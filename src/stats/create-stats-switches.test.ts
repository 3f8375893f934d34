// Switches of families and rows, on whole answers of both sources.
import { afterEach, expect, test } from 'vitest'
import { readExposition } from '../../test/support/exposition.js'
import { createStatsFixture, type StatsFixture, text } from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'
import type { SwitchRequest } from './render/series-writer.js'

let fixture: StatsFixture | undefined
afterEach(async () => fixture?.close())

async function scrape(switches: SwitchRequest) {
  fixture = await createStatsFixture({ pods: [web, etcd], stats: { switches } })
  await fixture.tick()
  return readExposition(text(await fixture.stats.cadvisor(0)))
}

test('a family that is switched off is gone, the others stay', async () => {
  const all = await scrape({ disable: ['container_memory_rss'] })
  expect(all.filter((s) => s.name === 'container_memory_rss')).toEqual([])
  expect(all.filter((s) => s.name === 'container_memory_usage_bytes').length).toBeGreaterThan(2)
})

test('container_tasks_state only when it is asked for', async () => {
  const without = await scrape({})
  expect(without.some((s) => s.name === 'container_tasks_state')).toBe(false)
})

test('rows of pods off: their network stays, because containers have none', async () => {
  const all = await scrape({ rows: { pods: false, slices: false, node: false } })
  const podRows = all.filter((s) => s.labels.pod === 'web-0' && s.labels.container === '')
  expect(podRows.length).toBeGreaterThan(0)
  expect(podRows.filter((s) => !s.name.startsWith('container_network_'))).toEqual([])
  expect(all.filter((s) => s.labels.id === '/' || s.labels.id === '/kubepods')).toEqual([])
})

test('a misspelt family is a warning with the nearest name', async () => {
  await scrape({ disable: ['container_memory_rsss'] })
  expect(JSON.stringify(fixture?.log)).toContain('container_memory_rss')
  expect(JSON.stringify(fixture?.log)).toContain('names an unknown metric')
})

// The text of `keelson explain --live`, from a node in memory to what a person reads.
import { expect, test } from 'vitest'
import { renderLive } from '../../src/cli/explain/live.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createMemoryQos } from '../../src/memory-qos/memory-qos.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { makePod, mib, startBed, tiered } from './bed.js'

test('intended, written, effective, and who caps', async () => {
  const bed = await startBed(tiered)
  const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' } })
  await bed.run(web)
  const memoryQos = createMemoryQos({
    cgroups: bed.cgroups,
    runtime: bed.runtime,
    clock: bed.clock,
    timeoutMs: 1000,
    ownsOtherFiles: () => false,
    log: new FakeLog(),
    metrics: await createProcessMetrics({ processDefaults: false }),
    event: () => undefined,
    node: () => bed.input,
    pods: () => bed.input.pods,
    signal: new AbortController().signal,
  })
  await memoryQos.passNow()
  const app = bed.containerPath(web, 'app')
  for (const path of ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/poduid-web', app])
    bed.cgroups.kernel.setText(path, 'memory.current', mib(128))
  bed.cgroups.kernel.write('/kubepods', 'memory.low', mib(32))
  const text = renderLive({ ...memoryQos.live('web'), findings: memoryQos.findings() })
  const shown = text.slice(text.indexOf('container app')).replaceAll(/ +/g, ' ')
  // kubepods has memory.min for Burstable pods too; with memory_recursiveprot it reaches down where nobody else claims it.
  expect(shown).toBe(`container app of default/web (uses 134217728, throttled 0 times)
 ${app}
 file intended written effective
 memory.min 0 0 134217728 memory.low protects
 memory.low 134217728 134217728 33554432 capped by /kubepods
 memory.high 255012864 255012864 255012864 throttling starts between the memory request and the limit
`)
})

test('nothing yet is said so', () => {
  expect(renderLive({ rows: [], findings: [] })).toContain('has not made a pass yet')
})

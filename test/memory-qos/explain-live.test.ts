// `keelson explain --live`, from a node in memory to what a person reads: the text alone, and the command over HTTPS.
import { expect, test } from 'vitest'
import { renderLive } from '../../src/cli/explain/effective-values.js'
import type { Io } from '../../src/cli/io.js'
import { startNodeServer } from '../../src/cli/node-server.js'
import { run } from '../../src/cli/program.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createMemoryQos } from '../../src/memory-qos/memory-qos.js'
import { memoryQosEndpoint } from '../../src/serve/endpoints/memory-qos.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { settingsIn, temporaryDirectory } from '../serve/start.js'
import { type MemoryFixture, makePod, mib, startFixture, tiered } from './fixture.js'

const web = makePod('web', { app: { request: '128Mi', limit: '256Mi' } })

const hold = async (fixture: MemoryFixture) =>
  createMemoryQos({
    cgroups: fixture.cgroups,
    runtime: fixture.runtime,
    clock: fixture.clock,
    timeoutMs: 1000,
    ownsOtherFiles: () => false,
    log: new FakeLog(),
    metrics: await createProcessMetrics({ processDefaults: false }),
    event: () => undefined,
    node: () => fixture.input,
    pods: () => fixture.input.pods,
    signal: new AbortController().signal,
  })

test('intended, written, effective, and who caps', async () => {
  const fixture = await startFixture(tiered)
  await fixture.run(web)
  const memoryQos = await hold(fixture)
  await memoryQos.passNow()
  const app = fixture.containerPath(web, 'app')
  for (const path of ['/kubepods', '/kubepods/burstable', '/kubepods/burstable/poduid-web', app])
    fixture.cgroups.kernel.setText(path, 'memory.current', mib(128))
  fixture.cgroups.kernel.write('/kubepods', 'memory.low', mib(32))
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
  expect(renderLive({ rows: [], findings: [] })).toContain('has not finished its first pass')
})

test('the command asks the process over HTTPS: one pod and its ancestors, findings, JSON', async () => {
  const fixture = await startFixture(tiered)
  await fixture.run(web)
  await fixture.run(makePod('other', { app: { request: '64Mi' } }))
  fixture.ignoresUnified = true
  const memoryQos = await hold(fixture)
  await memoryQos.passNow()
  const directory = temporaryDirectory()
  const server = await startNodeServer({
    settings: settingsIn(directory.path, 'companion'),
    endpoints: [memoryQosEndpoint(memoryQos)],
    configz: () => ({ kubeletconfig: {}, keelson: {} }),
    metrics: await createProcessMetrics({ processDefaults: false }),
    log: new FakeLog(),
  })
  try {
    const explain = async (...args: readonly string[]): Promise<string> => {
      let text = ''
      const sink = {
        write: (piece: string) => {
          text += piece
          return true
        },
      }
      const io: Io = { stdout: sink, stderr: sink, stdin: process.stdin, env: {}, exitCode: 0 }
      const reach = [
        `--server=${server.url}`,
        `--token-file=${directory.path}/token`,
        `--certificate=${directory.path}/pki/companion.crt`,
      ]
      await run(['explain', '--live', ...args, ...reach], io)
      return text
    }
    const shown = await explain('web')
    expect(shown).toContain('container app of default/web')
    expect(shown).not.toContain('default/other')
    expect(shown).toMatch(/finding unified-ignored: .*containerd 1\.6/)
    const json = JSON.parse(await explain('-o', 'json')) as {
      readonly rows: readonly { pod: string | null }[]
    }
    expect(new Set(json.rows.map((row) => row.pod))).toEqual(new Set([null, 'default/web', 'default/other']))
  } finally {
    await server.close()
    directory.remove()
  }
})

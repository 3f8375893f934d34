// The kubelet serves the three endpoints, and the gate decides by release and profile where values come from.
import { afterEach, describe, expect, test } from 'vitest'
import { PodSandboxStats } from '../../src/cri-api/api.js'
import { nodeAnswers } from '../../src/fakes/cri/node-answers.js'
import { createNodeState } from '../../src/fakes/cri/node-state.js'
import { runtimeConfig } from '../../src/fakes/cri/shapes.js'
import type { HttpResponse } from '../../src/ports/http.js'
import { decodePieces, type TextPieces } from '../../src/stats/render/text-bytes.js'
import { createKubeletFixture, type KubeletFixture } from '../support/kubelet-fixture.js'

let fixture: KubeletFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})

async function start(flags: readonly string[]): Promise<KubeletFixture> {
  const node = createNodeState()
  fixture = await createKubeletFixture({
    scripts: {
      ...nodeAnswers(node),
      RuntimeConfig: runtimeConfig.cgroupfs,
      ListPodSandboxStats: { value: { stats: [PodSandboxStats.fromPartial({})] } },
    },
  })
  await fixture.start([...flags])
  return fixture
}

const deprecation = (on: KubeletFixture): string[] =>
  on.log.messages('warn').filter((m) => m.includes('PodAndContainerStatsFromCRI'))

test('the endpoints are there, on the read-only port too, and answer', async () => {
  const on = await start([])
  const endpoints = on.served[0]?.endpoints ?? []
  expect(endpoints.map((e) => [e.path, e.methods, e.readOnly])).toEqual(
    expect.arrayContaining([
      ['/stats/summary', ['GET', 'POST'], true],
      ['/metrics/resource', ['GET'], true],
      ['/metrics/cadvisor', ['GET'], true],
    ]),
  )
  const cadvisor = endpoints.find((e) => e.path === '/metrics/cadvisor')
  const answer = cadvisor?.handle({} as never, {} as never) as Promise<HttpResponse>
  await on.clock.advance(6_000)
  const { status, body } = await answer
  expect(status).toBe(200)
  expect(decodePieces(body as TextPieces)).toMatch(/^machine_memory_bytes\{.*\} \d+$/m)
})

describe('gate PodAndContainerStatsFromCRI', () => {
  const gate = '--feature-gates=PodAndContainerStatsFromCRI'
  test.each([
    ['off by default', ['--kubernetes-version=1.36'], false, 0],
    ['on', ['--kubernetes-version=1.36', `${gate}=true`], true, 0],
    [
      'off where it is beta: one line about it',
      ['--kubernetes-version=1.37', '--profile=upstream'],
      false,
      1,
    ],
    ['on where it is beta', ['--kubernetes-version=1.37', '--profile=upstream', `${gate}=true`], true, 0],
  ] as const)('%s', async (_name, flags, fromCri, lines) => {
    const on = await start(flags)
    const { keelson } = on.served[0]?.configz() ?? {}
    expect(keelson).toMatchObject({ stats: { fromCri } })
    expect(deprecation(on)).toHaveLength(lines)
    expect((await on.metrics.text()).body).toContain(
      `kubelet_metrics_provider{provider="${fromCri ? 'cri' : 'cadvisor'}"} 1`,
    )
  })
})

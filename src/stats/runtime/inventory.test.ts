// Which pods and containers are reported on.
import { describe, expect, test } from 'vitest'
import { containersOf, sandboxOf } from '../../../test/support/stats-fixture.js'
import { web } from '../../../test/support/stats-pods.js'
import { PodSandboxState } from '../../cri-api/api.js'
import { buildInventory } from './inventory.js'

describe('which pods count', () => {
  const at = (id: string, createdAt: bigint, state: PodSandboxState) => ({
    ...sandboxOf(web),
    id,
    createdAt,
    state,
  })
  const { SANDBOX_READY: ready, SANDBOX_NOTREADY: ended } = PodSandboxState
  test.each([
    ['one, whatever its state', [at('a', 1n, ended)], ['a']],
    ['the ready ones of several', [at('a', 1n, ready), at('b', 2n, ended)], ['a']],
    ['the newest where none is ready', [at('a', 1n, ended), at('b', 2n, ended)], ['b']],
  ])('%s', (_name, sandboxes, kept) => {
    expect(buildInventory(sandboxes, [], 1n).pods.map((p) => p.sandboxId)).toEqual(kept)
  })
})

test('containers come in the order of the spec, in which they were created, not in that of the runtime', () => {
  const [pod] = buildInventory([sandboxOf(web)], containersOf(web).toReversed(), 1n).pods
  expect(pod?.containers.map((c) => c.name)).toEqual(web.containers.map((c) => c.name))
  expect(web.containers.length).toBeGreaterThan(1)
})

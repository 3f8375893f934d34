// Handlers of virtual machines, by the runtime's own description.
import { expect, test } from 'vitest'
import { opaqueHandlers } from './handlers.js'

test('handlers of virtual machines, by the description of containerd', () => {
  const config = (runtimes: object, defaultRuntimeName = 'runc') =>
    JSON.stringify({ containerd: { defaultRuntimeName, runtimes } })
  const runc = { runtimeType: 'io.containerd.runc.v2' }
  const kata = { runtimeType: 'io.containerd.kata.v2' }
  expect([
    ...opaqueHandlers(config({ runc, kata, gvisor: { runtime_type: 'io.containerd.runsc.v1' } })),
  ]).toEqual(['kata', 'gvisor'])
  expect([...opaqueHandlers(config({ kata }, 'kata'))]).toEqual(['kata', ''])
  for (const odd of [undefined, '', '{', '[]', 'null', '{"containerd":3}'])
    expect(opaqueHandlers(odd).size).toBe(0)
})

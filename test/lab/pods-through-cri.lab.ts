// The scenarios of pods once more, unchanged, with `keelson cri` between the kubelet and containerd. What a scenario looks at
// from outside is still containerd's own view.
import { afterAll, describe, expect, test } from 'vitest'
import { throughCriVariable } from '../kubelet/node.js'
import { useNode } from '../kubelet/use-node.js'

process.env[throughCriVariable] = '1'
afterAll(() => {
  delete process.env[throughCriVariable]
})

describe('the way to the runtime', () => {
  const node = useNode()

  test("POD-110 the kubelet talks to the CRI server, which tells it containerd's driver", () => {
    // Left alone, containerd 1.6 does not say its driver.
    expect(node().log()).toMatch(/the kubelet is up.*cgroupDriver\W+cgroupfs.*source\W+cri/)
    expect(node().log()).not.toContain(node().containerd.socket)
  })
})

for (const part of ['start', 'life', 'end', 'commands', 'crash', 'files'])
  describe(`through the CRI server: pods-${part}`, async () => {
    await import(`./pods-${part}.lab.ts`)
  })

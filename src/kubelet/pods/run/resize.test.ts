// A resize in place: what is written, and that a limit below what is in use waits without any change.
import { expect, test } from 'vitest'
import { container, image, observed, specOf } from '../../../../test/support/pod-manifest.js'
import type { PodSpec } from '../../../core/pod/spec/spec.js'
import { FakeCgroupTree } from '../../../fakes/cgroup-tree.js'
import { FakeClock } from '../../../fakes/clock.js'
import { FakeLog } from '../../../fakes/log.js'
import type { Planner } from './planner.js'
import { resizePod } from './resize.js'

const MiB = 2 ** 20
const path = '/kubepods/burstable/podu1'
const id = 'c'.repeat(64)

async function fixture(limit = 64 * MiB) {
  const cgroups = new FakeCgroupTree()
  await cgroups.ensure(`${path}/${id}`)
  const updates: unknown[] = []
  const spec = specOf({
    containers: [{ name: 'app', image, resources: { limits: { memory: String(limit) } } }],
  })
  const planner = {
    podCgroup: () => ({ path, values: { 'memory.max': limit === 0 ? 'max' : String(limit) } }),
    resources: () => ({ memoryLimitInBytes: BigInt(limit) }),
    differing: () => ({ ids: [id], unknown: false }),
  } as unknown as Planner
  const runtime = {
    updateContainerResources: async (request: unknown) => {
      updates.push(request)
      return {}
    },
  }
  const resize = (wanted: PodSpec = spec) =>
    resizePod(
      wanted,
      observed([container({ name: 'app', id })]),
      {
        cgroups,
        planner,
        runtime: runtime as never,
        log: new FakeLog(),
        clock: new FakeClock(),
        timeoutMs: 1000,
      },
      new AbortController().signal,
    )
  return { cgroups, limit, updates, resize }
}

test('usage below the new limit: the pod, then its container', async () => {
  const { cgroups, limit, resize, updates } = await fixture()
  cgroups.kernel.setText(path, 'memory.current', String(limit))
  cgroups.kernel.setText(`${path}/${id}`, 'memory.current', String(limit - 1))
  expect(await resize()).toBeUndefined()
  expect(cgroups.kernel.text(path, 'memory.max')).toBe(String(limit))
  expect(updates).toMatchObject([{ containerId: id, linux: { memoryLimitInBytes: BigInt(limit) } }])
})

test('no limit any more: the one that is there is taken away', async () => {
  const { cgroups, resize, updates } = await fixture(0)
  cgroups.kernel.write(path, 'memory.max', '4096')
  expect(await resize()).toBeUndefined()
  expect(cgroups.kernel.text(path, 'memory.max')).toBe('max')
  expect(updates).toMatchObject([{ linux: { memoryLimitInBytes: -1n } }])
})

for (const [what, at] of [
  ['the pod', path],
  ['container app', `${path}/${id}`],
] as const)
  test(`${what} uses more than the new limit: nothing changes, and it waits`, async () => {
    const { cgroups, limit, resize, updates } = await fixture()
    cgroups.kernel.setText(at, 'memory.current', String(limit + 4096))
    expect(await resize()).toMatchObject({
      reason: 'ResizeDeferred',
      message: `${what} uses more memory than its new limit of ${limit} bytes`,
    })
    expect(cgroups.kernel.text(path, 'memory.max')).toBe('max')
    expect(updates).toEqual([])
  })

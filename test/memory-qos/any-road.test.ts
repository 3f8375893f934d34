// Any road of settings, pods that come and go and requests that change: at no moment is a cgroup promised more than its
// parent, and where a pass has been, the next one finds nothing to do.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parentPath } from '../../src/core/cgroup/path.js'
import type { MemoryQosSettings } from '../../src/core/memory-qos/settings.js'
import type { PodResources } from '../../src/core/pod/pod.js'
import { assertAsyncProperty } from '../support/property.js'
import { gateOff, guaranteed, hard, type MemoryFixture, makePod, startFixture, tiered } from './fixture.js'

const settings: readonly MemoryQosSettings[] = [
  tiered,
  hard,
  gateOff,
  { ...tiered, policy: 'None' },
  { ...hard, factor: undefined },
  { ...tiered, factor: 0.5 },
]

const memory = fc.integer({ min: 1, max: 500_000_000 }).map(String)
const one = (name: string): fc.Arbitrary<PodResources> =>
  fc.oneof(
    memory.map((amount) => guaranteed(name, amount)),
    fc.constant(makePod(name, { app: {} })),
    fc
      .tuple(memory, memory)
      .map(([a, b]) => makePod(name, { app: { request: a, limit: '1Gi' }, side: { request: b } })),
  )
const turn = fc.record({
  memoryQos: fc.constantFrom(...settings),
  pods: fc.tuple(...['a', 'b', 'c'].map((name) => fc.option(one(name), { nil: undefined }))),
})

/** Every write goes through the kernel behind the tree, whoever makes it. */
function watch(fixture: MemoryFixture): string[] {
  const { kernel } = fixture.cgroups
  const seen: string[] = []
  const write = kernel.write.bind(kernel)
  kernel.write = (path, file, value) => {
    const errno = write(path, file, value)
    for (const cgroup of below(fixture, '/kubepods'))
      for (const protection of ['memory.min', 'memory.low'])
        if (amount(fixture, cgroup, protection) > amount(fixture, parentPath(cgroup) ?? '/', protection))
          seen.push(`${cgroup} ${protection} after ${path} ${file}=${value}`)
    return errno
  }
  return seen
}

const below = (fixture: MemoryFixture, path: string): string[] =>
  fixture.cgroups.kernel
    .children(path)
    .flatMap((name) => [`${path}/${name}`, ...below(fixture, `${path}/${name}`)])

const amount = (fixture: MemoryFixture, path: string, file: string): bigint =>
  BigInt(fixture.text(path, file) ?? '0')

async function follow(fixture: MemoryFixture, wanted: readonly PodResources[]): Promise<void> {
  for (const pod of fixture.input.pods) {
    const kept = wanted.find((w) => w.uid === pod.uid && isSameShape(w, pod))
    if (kept === undefined) await fixture.end(pod)
  }
  for (const pod of wanted) if (!fixture.input.pods.some((p) => p.uid === pod.uid)) await fixture.run(pod)
  fixture.input = { ...fixture.input, pods: wanted }
}

/** A pod of another class has another cgroup: it is another pod. */
const isSameShape = (a: PodResources, b: PodResources): boolean => shapeOf(a) === shapeOf(b)
const shapeOf = (pod: PodResources): string =>
  pod.containers.map((c) => `${c.name} ${c.resources.requests.size} ${c.resources.limits.size}`).join()

test('no cgroup is ever promised more than its parent, and a second pass does nothing', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 5 }), async (road) => {
      const fixture = await startFixture(tiered)
      const seen = watch(fixture)
      for (const { memoryQos, pods } of road) {
        await follow(
          fixture,
          pods.filter((p) => p !== undefined),
        )
        fixture.input = { ...fixture.input, memoryQos }
        await fixture.pass()
        const { writes, calls, findings } = await fixture.pass()
        expect({ writes, calls, findings }).toEqual({ writes: 0, calls: 0, findings: [] })
      }
      expect(seen).toEqual([])
    }),
    { numRuns: 150 },
  )
})

// Any road of settings, pods that come and go and requests that change: at no moment is a cgroup promised more than its
// parent, and where a pass has been, the next one finds nothing to do.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parentPath } from '../../src/core/cgroup/path.js'
import type { MemoryQosSettings } from '../../src/core/memory-qos/settings.js'
import type { Pod } from '../../src/core/pod/pod.js'
import { assertAsyncProperty } from '../support/property.js'
import { gateOff, guaranteed, hard, type MemoryBed, makePod, startBed, tiered } from './fixture.js'

const settings: readonly MemoryQosSettings[] = [
  tiered,
  hard,
  gateOff,
  { ...tiered, policy: 'None' },
  { ...hard, factor: undefined },
  { ...tiered, factor: 0.5 },
]

const memory = fc.integer({ min: 1, max: 500_000_000 }).map(String)
const one = (name: string): fc.Arbitrary<Pod> =>
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
function watch(bed: MemoryBed): string[] {
  const { kernel } = bed.cgroups
  const seen: string[] = []
  const write = kernel.write.bind(kernel)
  kernel.write = (path, file, value) => {
    const errno = write(path, file, value)
    for (const cgroup of below(bed, '/kubepods'))
      for (const protection of ['memory.min', 'memory.low'])
        if (amount(bed, cgroup, protection) > amount(bed, parentPath(cgroup) ?? '/', protection))
          seen.push(`${cgroup} ${protection} after ${path} ${file}=${value}`)
    return errno
  }
  return seen
}

const below = (bed: MemoryBed, path: string): string[] =>
  bed.cgroups.kernel.children(path).flatMap((name) => [`${path}/${name}`, ...below(bed, `${path}/${name}`)])

const amount = (bed: MemoryBed, path: string, file: string): bigint => BigInt(bed.text(path, file) ?? '0')

async function follow(bed: MemoryBed, wanted: readonly Pod[]): Promise<void> {
  for (const pod of bed.input.pods) {
    const kept = wanted.find((w) => w.uid === pod.uid && isSameShape(w, pod))
    if (kept === undefined) await bed.end(pod)
  }
  for (const pod of wanted) if (!bed.input.pods.some((p) => p.uid === pod.uid)) await bed.run(pod)
  bed.input = { ...bed.input, pods: wanted }
}

/** A pod of another class has another cgroup: it is another pod. */
const isSameShape = (a: Pod, b: Pod): boolean => shapeOf(a) === shapeOf(b)
const shapeOf = (pod: Pod): string =>
  pod.containers.map((c) => `${c.name} ${c.resources.requests.size} ${c.resources.limits.size}`).join()

test('no cgroup is ever promised more than its parent, and a second pass does nothing', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 5 }), async (road) => {
      const bed = await startBed(tiered)
      const seen = watch(bed)
      for (const { memoryQos, pods } of road) {
        await follow(
          bed,
          pods.filter((p) => p !== undefined),
        )
        bed.input = { ...bed.input, memoryQos }
        await bed.pass()
        const { writes, calls, findings } = await bed.pass()
        expect({ writes, calls, findings }).toEqual({ writes: 0, calls: 0, findings: [] })
      }
      expect(seen).toEqual([])
    }),
    { numRuns: 150 },
  )
})

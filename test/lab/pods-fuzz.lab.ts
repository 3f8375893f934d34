// Mutated manifests on a real node: each comes to rest in a state that has a name, and everything of it goes again.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PodJson } from '../../src/core/pod/document.js'
import { parseTime } from '../../src/core/units/rfc3339.js'
import { type FuzzedManifest, fuzzedManifests } from '../kubelet/fuzzed-manifests.js'
import { until } from '../kubelet/node.js'
import { useNode } from '../kubelet/use-node.js'

const node = useNode()
const count = 200
const seed = 20_261_115
const atOnce = 25

const knownReasons = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
])

/** What the pod has come to, in a word; undefined while it is on its way. */
function restOf(pod: PodJson): string | undefined {
  const { status } = pod
  if (status.phase !== 'Pending') return status.phase
  if (status.reason !== undefined) return status.reason
  const all = [...(status.initContainerStatuses ?? []), ...status.containerStatuses]
  const reasons = all.flatMap(({ state }) => state.waiting?.reason ?? [])
  return (
    reasons.find((reason) => knownReasons.has(reason)) ?? (isInitForEver(pod) ? 'Initializing' : undefined)
  )
}

/** An init container that was a sidecar before it was mutated never ends. */
function isInitForEver({ spec, status }: PodJson): boolean {
  const inits = (spec['initContainers'] ?? []) as readonly {
    readonly name: string
    readonly restartPolicy?: string
  }[]
  const plain = new Set(inits.filter((c) => c.restartPolicy !== 'Always').map((c) => c.name))
  return (status.initContainerStatuses ?? []).some(({ name, state }) => {
    const since = parseTime(state.running?.startedAt ?? '')
    return plain.has(name) && since !== undefined && BigInt(Date.now()) * 1_000_000n - since > 5_000_000_000n
  })
}

async function runThrough(batch: readonly FuzzedManifest[], tally: Map<string, number>): Promise<void> {
  for (const { name, text } of batch) await node().write(`${name}.json`, text)
  const wanted = new Set(batch.map(({ name }) => `${name}-node-1`))
  let open: readonly string[] = []
  const rested = await until(
    'every pod is at rest',
    async () => {
      const pods = (await node().pods()).filter(({ metadata }) => wanted.has(metadata.name))
      const rests = pods.map((pod) => [pod.metadata.name, restOf(pod)] as const)
      open = rests.filter(([, rest]) => rest === undefined).map(([name]) => name)
      return pods.length === batch.length && open.length === 0 ? rests : undefined
    },
    90_000,
  ).catch((e: unknown) => {
    throw new Error(`${String(e)}: ${open.join(', ')}\n${node().log().slice(-4000)}`)
  })
  for (const [, rest = ''] of rested) tally.set(rest, (tally.get(rest) ?? 0) + 1)
  const alive = (await node().containers())
    .filter(({ state }) => state === 1)
    .map((c) => `${c.labels['io.kubernetes.pod.uid']} ${c.metadata?.name}`)
  expect(alive.filter((name, i) => alive.indexOf(name) !== i)).toEqual([])
  for (const { name } of batch) await node().removeManifest(`${name}.json`)
  await until(
    'all of them have gone',
    async () => (await node().sandboxes()).length === 0 && (await node().pods()).length === 0,
    90_000,
  )
  await until('no trace is left', async () => (await node().leftovers()).length === 0, 10_000)
}

describe('mutated manifests', () => {
  test('POD-90 200 that are accepted run for real, the others are refused by name, and nothing is left', {
    timeout: 900_000,
  }, async () => {
    const { accepted, refused } = fuzzedManifests(count, seed, join(node().directory, 'host'))
    expect(accepted).toHaveLength(count)
    expect(refused.length).toBeGreaterThan(count / 4)
    const pid = node().pid
    for (const { name, text } of refused.slice(0, count)) await node().write(`${name}.json`, text)
    const tally = new Map<string, number>()
    for (let i = 0; i < accepted.length; i += atOnce) await runThrough(accepted.slice(i, i + atOnce), tally)
    console.log(
      `POD-90 ${[...tally].map(([rest, n]) => `${rest} ${n}`).join(', ')}; ${refused.length} refused`,
    )
    expect([...tally.values()].reduce((sum, n) => sum + n, 0)).toBe(count)
    expect(tally.get('Running') ?? 0).toBeGreaterThan(count / 4)
    // The same process, well, and it has named every file that it refused.
    expect(node().pid).toBe(pid)
    expect((await node().ask('/healthz')).status).toBe(200)
    for (const { name } of refused.slice(0, count)) expect(node().log()).toContain(`${name}.json`)
  })
})

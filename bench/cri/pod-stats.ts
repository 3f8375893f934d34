// ListPodSandboxStats of a full node: real containerd's own, and through the server, which looks at the cgroups anew each time.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CriClient } from '../../src/ports/runtime.js'
import { removePod, runPod } from '../../test/lab/inside/pod.js'
import { type Pair, pairOf, type Round } from './measure.js'

export const fullNode = 110
const atOnce = 4
const rounds = 9
/** Longer than one look at the node is shared: no round profits from the one before it. */
const apartMs = 1_100

const nameOf = (i: number): string => `bench-${i}`
const parentOf = (i: number): string => `/kubepods/besteffort/pod${nameOf(i)}`

/** Pods from..to, made a few at a time. */
export async function makePods(client: CriClient, from: number, to: number): Promise<void> {
  let next = from
  const work = async (): Promise<void> => {
    for (let i = next++; i < to; i = next++)
      await runPod(client, { name: nameOf(i), cgroupParent: parentOf(i) })
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

export async function removePods(client: CriClient): Promise<void> {
  const { items } = await client.runtime.listPodSandbox({})
  const work = async (): Promise<void> => {
    for (let s = items.pop(); s !== undefined; s = items.pop()) await removePod(client, { sandboxId: s.id })
  }
  await Promise.all(Array.from({ length: atOnce }, work))
}

export async function measurePodStats(
  direct: CriClient,
  through: CriClient,
  signal: AbortSignal,
): Promise<Pair> {
  const call = async (client: CriClient): Promise<number> => {
    signal.throwIfAborted()
    const begun = performance.now()
    const { stats } = await client.runtime.listPodSandboxStats({ filter: {} }, { timeoutMs: 120_000, signal })
    const took = performance.now() - begun
    if (stats.length !== fullNode) throw new Error(`${stats.length} of ${fullNode} pods have stats`)
    return took
  }
  // Layers are asked for once before the first answer.
  await call(through)
  await call(direct)
  const found: Round[] = []
  for (let i = 0; i < rounds; i++) {
    await sleep(apartMs)
    const throughMs = await call(through)
    found.push({ directMs: await call(direct), throughMs })
  }
  return pairOf(`ListPodSandboxStats of ${fullNode} pods, containerd`, found)
}

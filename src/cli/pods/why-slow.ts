// Why a command in a container takes long, from what the kubelet sees of the container now.

import type { LiveContainer, LiveSnapshot } from '../../core/dashboard/model.js'
import { isKeelsonError } from '../../core/errors.js'
import type { PodJson } from '../../core/pod/document.js'
import { humanBytes } from '../../core/units/human-bytes.js'
import type { KubeletClient } from './kubelet-client.js'

const timeoutMs = 5_000
/** From this share of memory.high on, an allocation has to reclaim first. */
const atHigh = { part: 98n, of: 100n }
/** Percent of the scheduling periods in which the quota ran out. */
const muchThrottled = 50

/** Undefined: the container gives no reason. */
export function slowness({ values: { cpu, memory } }: Pick<LiveContainer, 'values'>): string | undefined {
  const high = memory?.high ?? 'max'
  if (memory !== null && high !== 'max') {
    const [usage, limit] = [BigInt(memory.usage), BigInt(high)]
    if ((memory.throttlesPerSecond ?? 0) > 0 || usage * atHigh.of >= limit * atHigh.part)
      return `the container is throttled at memory.high ${humanBytes(limit)} (usage ${humanBytes(usage)}), which slows down commands in it`
  }
  const percent = cpu?.throttledPercent ?? 0
  if (percent >= muchThrottled)
    return `the container reaches its CPU limit in ${Math.round(percent)} % of the periods, which slows down commands in it`
  return undefined
}

/** Also undefined where the kubelet has no answer to this either. */
export async function whySlow(
  client: Pick<KubeletClient, 'get'>,
  { metadata: { uid } }: PodJson,
  container: string,
): Promise<string | undefined> {
  try {
    const { pods } = JSON.parse(await client.get('/live/snapshot', timeoutMs)) as LiveSnapshot
    const found = pods.find((pod) => pod.uid === uid)?.containers.find(({ name }) => name === container)
    return found === undefined ? undefined : slowness(found)
  } catch (e) {
    if (!isKeelsonError(e) && !(e instanceof SyntaxError)) throw e
    return undefined
  }
}

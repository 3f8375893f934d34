// Requests of a container as far as a runtime and the kernel show them: CRI has no field for the memory request. Which
// trace it was read from is part of the answer.
import type { RequestOrigin } from '../../../core/dashboard/model.js'

export interface RequestTraces {
  readonly cpuShares?: bigint | undefined
  readonly oomScoreAdj?: number | undefined
  readonly memoryMin?: bigint | undefined
  readonly memoryLow?: bigint | undefined
  readonly memoryLimit?: bigint | undefined
  readonly memoryCapacity: bigint
}

interface DerivedRequest {
  readonly cpuMilli: number | undefined
  readonly memory: bigint | undefined
  readonly from: RequestOrigin | undefined
}

/** The fewest shares there are: no request. */
const fewestShares = 2n
/** Upstream's values: every Guaranteed container has the first, Burstable ones lie between the other two. */
const guaranteedAdj = -997
const burstableAdj = { least: 2, most: 999 }

const isSet = (amount: bigint | undefined): amount is bigint => amount !== undefined && amount > 0n

function memoryOf(t: RequestTraces): Pick<DerivedRequest, 'memory' | 'from'> {
  if (isSet(t.memoryMin)) return { memory: t.memoryMin, from: 'memory.min' }
  if (isSet(t.memoryLow)) return { memory: t.memoryLow, from: 'memory.low' }
  const adj = t.oomScoreAdj
  if (adj === guaranteedAdj && isSet(t.memoryLimit)) return { memory: t.memoryLimit, from: 'limit' }
  // 1000 - 1000 * request / capacity, whole numbers; both ends are clamped and say less.
  if (adj !== undefined && adj > burstableAdj.least && adj < burstableAdj.most)
    return { memory: (t.memoryCapacity * BigInt(1000 - adj)) / 1000n, from: 'oom_score_adj' }
  return { memory: undefined, from: undefined }
}

export function deriveRequest(traces: RequestTraces): DerivedRequest {
  const { cpuShares } = traces
  const cpuMilli =
    cpuShares === undefined || cpuShares <= fewestShares
      ? undefined
      : Math.round((Number(cpuShares) * 1000) / 1024)
  return { cpuMilli, ...memoryOf(traces) }
}

// What only ContainerStatus reports: log file, name of the image, CPU shares and oom_score_adj. Called once for each container, a few at a
// time, and again when its limits change.
import type { CriClient } from '../../ports/runtime.js'

export interface ContainerDetails {
  readonly logPath: string | undefined
  /** The name by which the pod asked for it; the list has only an id. */
  readonly image: string | undefined
  readonly cpuShares: bigint | undefined
  readonly oomScoreAdj: number | undefined
  readonly memoryLimit: bigint | undefined
}

interface DetailsCache {
  get(id: string): ContainerDetails | undefined
  /** Asks for what is not known yet: at most so many calls at once, and not more than a round's worth. */
  refresh(wanted: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void>
}

const callsAtOnce = 4
const callsARound = 64
const timeoutMs = 5_000

type Status = Awaited<ReturnType<CriClient['runtime']['containerStatus']>>
interface Resources {
  readonly cpu_shares?: unknown
  readonly oom_score_adj?: unknown
  readonly memory_limit_in_bytes?: unknown
}

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined
const bigintOf = (value: unknown): bigint | undefined => {
  const n = numberOf(value)
  return n === undefined ? undefined : BigInt(Math.trunc(n))
}

/** containerd before 1.7 has no `resources`; its verbose form has what the kubelet asked for. */
function resourcesInInfo(info: Readonly<Record<string, string>>): Resources {
  try {
    const parsed: unknown = JSON.parse(info.info ?? '{}')
    const { config } = parsed as { config?: { linux?: { resources?: Resources } } }
    return config?.linux?.resources ?? {}
  } catch {
    return {}
  }
}

function detailsOf({ status, info }: Status): ContainerDetails {
  const logPath = status?.logPath === '' ? undefined : status?.logPath
  const image = status?.image?.userSpecifiedImage || status?.image?.image || undefined
  const given = status?.resources?.linux
  if (given !== undefined)
    return {
      logPath,
      image,
      cpuShares: given.cpuShares,
      oomScoreAdj: Number(given.oomScoreAdj),
      memoryLimit: given.memoryLimitInBytes,
    }
  const read = resourcesInInfo(info)
  return {
    logPath,
    image,
    cpuShares: bigintOf(read.cpu_shares),
    oomScoreAdj: numberOf(read.oom_score_adj),
    memoryLimit: bigintOf(read.memory_limit_in_bytes),
  }
}

export function createDetailsCache(client: Pick<CriClient, 'runtime'>): DetailsCache {
  let known = new Map<string, { readonly state: string; readonly details: ContainerDetails }>()

  async function ask(id: string, state: string, signal: AbortSignal): Promise<void> {
    const details = await client.runtime
      .containerStatus({ containerId: id, verbose: true }, { timeoutMs, signal })
      .then(detailsOf, () => undefined)
    if (details !== undefined) known.set(id, { state, details })
  }

  return {
    get: (id) => known.get(id)?.details,
    async refresh(wanted, signal) {
      known = new Map([...known].filter(([id]) => wanted.has(id)))
      const queue = [...wanted].filter(([id, state]) => known.get(id)?.state !== state).slice(0, callsARound)
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift())
          await ask(next[0], next[1], signal)
      }
      await Promise.all(Array.from({ length: callsAtOnce }, work))
    },
  }
}

// Which statuses of a pod may follow each other, as a watch of the API server shows them. Pure. For pods whose containers end
// only when the pod is deleted: every restart is one that nothing asked for.
import type { KubePod } from '../../src/core/kube/objects.js'

interface SeenContainer {
  readonly id: string
  readonly restartCount: number
  readonly state: string
  /** How the instance before this one ended. */
  readonly last: string
}

export interface SeenPod {
  readonly name: string
  readonly deleted: boolean
  readonly phase: string
  readonly generation: number
  readonly startTime: string
  readonly ready: boolean
  readonly containers: ReadonlyMap<string, SeenContainer>
}

interface ContainerStatus {
  readonly name: string
  readonly containerID?: string
  readonly restartCount: number
  readonly state?: Readonly<Record<string, unknown>>
  readonly lastState?: { readonly terminated?: { readonly reason?: string; readonly message?: string } }
}

export function readSeenPod({ metadata, status }: KubePod): SeenPod {
  const list = (status?.['containerStatuses'] ?? []) as readonly ContainerStatus[]
  const conditions = (status?.['conditions'] ?? []) as readonly { type: string; status: string }[]
  return {
    name: metadata?.name ?? '',
    deleted: metadata?.deletionTimestamp !== undefined,
    phase: status?.phase ?? 'Pending',
    generation: Number(status?.['observedGeneration'] ?? 0),
    startTime: String(status?.['startTime'] ?? ''),
    ready: conditions.some((c) => c.type === 'Ready' && c.status === 'True'),
    containers: new Map(
      list.map((c) => [
        c.name,
        {
          id: c.containerID ?? '',
          restartCount: c.restartCount,
          state: Object.keys(c.state ?? {})[0] ?? 'waiting',
          last: `${c.lastState?.terminated?.reason ?? ''} ${c.lastState?.terminated?.message ?? ''}`.trim(),
        },
      ]),
    ),
  }
}

const phases = ['Pending', 'Running', 'Succeeded', 'Failed']
/** The two final ones are equal: neither may follow the other. */
const rank = (phase: string): number => Math.min(phases.indexOf(phase), 2)

/** In words; empty: `now` may follow `before`. */
export function statusProblems(before: SeenPod, now: SeenPod): readonly string[] {
  const problems: string[] = []
  const isFinal = rank(now.phase) === 2
  if (rank(now.phase) < rank(before.phase) || (rank(before.phase) === 2 && now.phase !== before.phase))
    problems.push(`phase ${before.phase} -> ${now.phase}`)
  if (isFinal && !now.deleted) problems.push(`phase ${now.phase}, although it was not deleted`)
  if (now.generation < before.generation)
    problems.push(`observedGeneration ${before.generation} -> ${now.generation}`)
  if (before.startTime !== '' && now.startTime !== before.startTime)
    problems.push(`startTime ${before.startTime} -> ${now.startTime}`)
  if (before.ready && !now.ready && !now.deleted) problems.push('Ready -> not Ready')
  for (const [name, then] of before.containers)
    problems.push(...containerProblems(name, then, now.containers.get(name)))
  return problems
}

function containerProblems(
  name: string,
  before: SeenContainer,
  now: SeenContainer | undefined,
): readonly string[] {
  if (now === undefined) return [`container ${name} has no status any more`]
  if (now.restartCount < before.restartCount)
    return [`restartCount of ${name} ${before.restartCount} -> ${now.restartCount}`]
  if (now.restartCount > before.restartCount)
    return [`container ${name} was restarted (${before.state}, ${before.id} -> ${now.id}; ${now.last})`]
  if (before.state === 'terminated' && now.state !== 'terminated')
    return [`container ${name} terminated -> ${now.state}`]
  if (before.state === 'running' && now.state === 'waiting') return [`container ${name} running -> waiting`]
  if (before.state === 'running' && now.id !== before.id)
    return [`container ${name} is another one: ${before.id} -> ${now.id}`]
  return []
}

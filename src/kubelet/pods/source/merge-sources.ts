// All sources of pods as one: what each of them wants now, and whether each was read at least once. Static pods do not wait
// for an API server that is unreachable.
import type { WantedPod, WantedPods } from '../decide/wanted-pod.js'
import { LatestValue } from './latest-value.js'
import type { StaticPods } from './static-source.js'

interface Sources {
  /** Undefined: this node has no such source. */
  readonly files: AsyncIterable<StaticPods> | undefined
  readonly api: AsyncIterable<ReadonlyMap<string, WantedPod>> | undefined
}

/** Whenever one of them changes. */
export async function* mergeSources(
  sources: Sources,
  signal: AbortSignal,
): AsyncGenerator<WantedPods, void, undefined> {
  const latest = new LatestValue<WantedPods>()
  let files: StaticPods | undefined
  let api: ReadonlyMap<string, WantedPod> | undefined
  const known = new Map<unknown, WantedPod>()
  const emit = (): void =>
    latest.set({
      pods: new Map([...staticPods(files, known), ...(api ?? [])]),
      broken: files?.broken ?? new Set(),
      complete:
        (sources.files === undefined || files !== undefined) &&
        (sources.api === undefined || api !== undefined),
    })
  const read = async <T>(source: AsyncIterable<T> | undefined, take: (value: T) => void): Promise<void> => {
    try {
      for await (const value of source ?? []) {
        take(value)
        emit()
      }
    } catch (e) {
      latest.fail(e)
    }
  }
  const reading = Promise.all([
    read(sources.files, (value) => {
      files = value
    }),
    read(sources.api, (value) => {
      api = value
    }),
  ])
  yield* latest.values(signal)
  await reading
}

/** The same object for the same pod: who takes it sees at once that nothing has changed. */
function staticPods(
  files: StaticPods | undefined,
  known: Map<unknown, WantedPod>,
): readonly (readonly [string, WantedPod])[] {
  const before = new Map(known)
  known.clear()
  return [...(files?.pods ?? [])].map(([uid, pod]) => {
    const wanted = before.get(pod) ?? { uid, spec: pod.spec, file: pod.file, recreated: pod.recreated }
    known.set(pod, wanted)
    return [uid, wanted] as const
  })
}

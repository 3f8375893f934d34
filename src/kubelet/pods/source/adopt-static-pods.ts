// Static pods keep the uid under which another kubelet runs them, as long as their manifest stays as it was: so a node changes
// its kubelet without a restart. Only what runs when the manifests are first read is taken over.
import type { Log } from '../../../ports/log.js'
import type { PodHost } from '../../../ports/pod-host.js'
import {
  isMarkedByOther,
  isPodOfManifest,
  isPodUid,
  type KubeletIdentity,
  type StaticCandidate,
} from '../decide/owner.js'
import { withUid } from '../decide/static-pod.js'
import { type PodPaths, podRecords, podsDirectory } from '../to-cri/names.js'
import type { RuntimeView } from '../view/runtime-view.js'
import type { StaticPod, StaticPods } from './static-source.js'

interface AdoptOptions {
  /** Listed before the first pods are asked for. */
  readonly view: Pick<RuntimeView, 'all' | 'annotations'>
  readonly host: Pick<PodHost, 'list' | 'readAt' | 'writeFile'>
  readonly paths: PodPaths
  readonly identity: KubeletIdentity
  readonly log: Log
}

const maxUidBytes = 64

export async function* adoptStaticPods(
  source: AsyncIterable<StaticPods>,
  o: AdoptOptions,
): AsyncGenerator<StaticPods, void, undefined> {
  let uids: ReadonlyMap<string, string> | undefined
  // The same object for the same pod: who takes it sees at once that nothing has changed.
  const renamed = new WeakMap<StaticPod, StaticPod>()
  const rename = (pod: StaticPod, uid: string): StaticPod => {
    const known = renamed.get(pod) ?? { ...pod, spec: withUid(pod.spec, uid) }
    renamed.set(pod, known)
    return known
  }
  for await (const now of source) {
    uids ??= await findRunning(now, o)
    const pods = [...now.pods].map(([own, pod]): [string, StaticPod] => {
      const uid = uids?.get(own)
      return uid === undefined ? [own, pod] : [uid, rename(pod, uid)]
    })
    yield { ...now, pods: new Map(pods) }
  }
}

/** By the uid that this kubelet computes: the uid that runs. */
async function findRunning({ pods }: StaticPods, o: AdoptOptions): Promise<ReadonlyMap<string, string>> {
  const uids = new Map<string, string>()
  const candidates = await findCandidates(o)
  for (const [own, { spec, changedAtNanos, file }] of pods) {
    const found = candidates.find((candidate) => isPodOfManifest(spec, changedAtNanos, candidate))
    if (found === undefined) continue
    const { uid } = found.observed
    if (found.takenOverAs === '') {
      await o.host.writeFile(`${podRecords(o.paths)}/${uid}`, own, 0o600)
      const { namespace, name } = spec.pod
      o.log.info('taking over a static pod of another kubelet', { pod: `${namespace}/${name}`, uid, file })
    }
    uids.set(own, uid)
  }
  return uids
}

/** Pods whose directory lies in this root directory: another kubelet in this one's place made them. */
async function findCandidates(o: AdoptOptions): Promise<readonly StaticCandidate[]> {
  const directories = new Set(await o.host.list(podsDirectory(o.paths)))
  const found: StaticCandidate[] = []
  for (const observed of o.view.all()) {
    const annotations = o.view.annotations(observed.uid)
    if (!isPodUid(observed.uid) || !directories.has(observed.uid)) continue
    if (isMarkedByOther(annotations, o.identity)) continue
    const record = await o.host.readAt(`${podRecords(o.paths)}/${observed.uid}`, 0, maxUidBytes)
    const takenOverAs = record === undefined ? '' : Buffer.from(record.bytes).toString('utf8')
    found.push({ observed, annotations, takenOverAs })
  }
  return found
}

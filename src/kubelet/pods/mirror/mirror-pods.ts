// Mirror pods: each static pod of this node is shown by an object in the API server. Deleting that object does not end the
// pod; the object is made anew.
import { asKeelsonError, isKeelsonError } from '../../../core/errors.js'
import type { KubeNode, KubePod } from '../../../core/kube/objects.js'
import { collectionPath, objectPath, pods } from '../../../core/kube/path.js'
import type { PodJson } from '../../../core/pod/document.js'
import type { Clock } from '../../../ports/clock.js'
import type { KubeApi } from '../../../ports/kube-api.js'
import type { Log } from '../../../ports/log.js'
import { podKey } from '../decide/wanted-pod.js'
import { Wake } from '../run/wake.js'
import { decideMirrors, isMirrorOf, type MirrorAction, type StaticPodNow } from './decide/mirror-actions.js'
import { mirrorObject } from './decide/mirror-object.js'

interface MirrorOptions {
  readonly api: Pick<KubeApi, 'create' | 'remove'>
  /** This node; undefined: it is not registered. */
  readonly node: () => KubeNode | undefined
  readonly statics: () => readonly StaticPodNow[]
  readonly mirrors: () => readonly KubePod[]
  /** Every source of pods was read. */
  readonly complete: () => boolean
  /** The whole static pod, for its mirror. */
  readonly document: (uid: string) => PodJson | undefined
  readonly clock: Clock
  readonly log: Log
}

/** Also how long a registration of the node, or an API server, is waited for. */
const compareNanos = 10_000_000_000n
const retryNanos = 1_000_000_000n
const timeoutMs = 10_000

export class MirrorPods {
  private readonly wake: Wake
  private lastProblem = ''

  constructor(private readonly o: MirrorOptions) {
    this.wake = new Wake(o.clock)
  }

  /** A static pod or a mirror has changed. */
  notify(): void {
    this.wake.notify()
  }

  /** The static pod that the object with this uid shows. */
  staticUid(uid: string): string | undefined {
    const mirror = this.o.mirrors().find(({ metadata }) => metadata?.uid === uid)
    const key = mirror && podKey(mirror)
    if (mirror === undefined || key === undefined) return undefined
    return this.o
      .statics()
      .find((pod) => pod.namespace === key.namespace && pod.name === key.name && isMirrorOf(mirror, pod))?.uid
  }

  /** The object that shows the static pod with this uid. */
  mirrorUid(uid: string): string | undefined {
    const pod = this.o.statics().find((one) => one.uid === uid)
    if (pod === undefined) return undefined
    const mirror = this.o
      .mirrors()
      .find((m) => m.metadata?.name === pod.name && m.metadata.namespace === pod.namespace)
    return mirror !== undefined && isMirrorOf(mirror, pod) ? mirror.metadata?.uid : undefined
  }

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.o
    while (!signal.aborted) {
      const isDone = await this.reconcile(signal)
      await this.wake.sleep(clock.monotonicNanos() + (isDone ? compareNanos : retryNanos), signal)
    }
  }

  /** False: to be tried again soon. */
  private async reconcile(signal: AbortSignal): Promise<boolean> {
    const { statics, mirrors, complete } = this.o
    let isDone = true
    for (const action of decideMirrors({ statics: statics(), mirrors: mirrors(), complete: complete() })) {
      try {
        isDone = (await this.carryOut(action, signal)) && isDone
      } catch (e) {
        if (signal.aborted) return true
        if (!isKeelsonError(e)) throw e
        const error = asKeelsonError(e)
        if (error.message !== this.lastProblem)
          this.o.log.warn('failed to write a mirror pod; retrying', { action: action.kind, error })
        this.lastProblem = error.message
        isDone = false
      }
    }
    return isDone
  }

  private async carryOut(action: MirrorAction, signal: AbortSignal): Promise<boolean> {
    const { api, log, node, document } = this.o
    const options = { signal, timeoutMs, retry: 'never' } as const
    if (action.kind === 'remove') {
      const key = podKey(action.mirror)
      if (key === undefined) return true
      log.info('removing a mirror pod', { pod: `${key.namespace}/${key.name}`, uid: key.uid })
      await api.remove(objectPath(pods, key), { ...options, uid: key.uid, gracePeriodSeconds: 0 })
      return true
    }
    const { name = '', uid, deletionTimestamp } = node()?.metadata ?? {}
    const pod = document(action.uid)
    // A node that is being removed from the cluster gets nothing new.
    if (uid === undefined || deletionTimestamp !== undefined || pod === undefined) return false
    log.info('creating a mirror pod', { pod: `${pod.metadata.namespace}/${pod.metadata.name}` })
    await api.create(collectionPath(pods, pod.metadata.namespace), mirrorObject(pod, { name, uid }), options)
    return true
  }
}

// Sends the statuses of pods to the API server, one pod at a time and only what differs there, and removes the object of a
// pod that was deleted and has ended. What fails is tried again; every few seconds everything is compared.
import { asKeelsonError, isKeelsonError } from '../../../core/errors.js'
import type { KubePod } from '../../../core/kube/objects.js'
import { objectPath, pods } from '../../../core/kube/path.js'
import { callStatusOf } from '../../../core/kube/retry.js'
import type { Clock } from '../../../ports/clock.js'
import type { KubeApi } from '../../../ports/kube-api.js'
import type { Log } from '../../../ports/log.js'
import { isMirrorPod, podKey } from '../decide/wanted-pod.js'
import { Wake } from '../run/wake.js'
import type { PodReport } from '../run/worker.js'
import type { ApiPods } from '../source/api-source.js'
import { mayBeRemoved, podStatusPatch } from './decide/status-patch.js'

interface StatusOptions {
  readonly api: Pick<KubeApi, 'get' | 'patch' | 'remove'>
  readonly known: ApiPods
  /** What this kubelet knows of the pod; undefined: nothing. */
  readonly report: (uid: string) => PodReport | undefined
  readonly clock: Clock
  readonly log: Log
}

const compareNanos = 10_000_000_000n
const retryNanos = 1_000_000_000n
const timeoutMs = 10_000

export class StatusReporter {
  private readonly pending = new Set<string>()
  private readonly wake: Wake

  constructor(private readonly o: StatusOptions) {
    this.wake = new Wake(o.clock)
  }

  /** Something of the pod's status may have changed. */
  notify(uid: string): void {
    this.pending.add(uid)
    this.wake.notify()
  }

  /** Until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, known } = this.o
    let compared = clock.monotonicNanos()
    while (!signal.aborted) {
      const failed: string[] = []
      for (const uid of this.pending) {
        this.pending.delete(uid)
        if (!(await this.tryOne(uid, signal))) failed.push(uid)
        if (signal.aborted) return
      }
      for (const uid of failed) this.pending.add(uid)
      const now = clock.monotonicNanos()
      const due = failed.length > 0 ? now + retryNanos : compared + compareNanos
      await this.wake.sleep(due, signal)
      if (clock.monotonicNanos() - compared < compareNanos) continue
      compared = clock.monotonicNanos()
      for (const uid of known.uids()) this.pending.add(uid)
    }
  }

  /** False: to be tried again. */
  private async tryOne(uid: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.sync(uid, signal)
      return true
    } catch (e) {
      if (signal.aborted) return true
      if (!isKeelsonError(e)) throw e
      const error = asKeelsonError(e)
      const status = callStatusOf(e)
      // The pod has gone, or another one has its name: its watch tells.
      if (status === 404 || status === 409) return true
      this.o.log.warn('failed to report the status of a pod; retrying', { uid, error })
      return false
    }
  }

  private async sync(uid: string, signal: AbortSignal): Promise<void> {
    const { api, known } = this.o
    const cached = known.object(uid)
    const report = this.o.report(uid)
    const key = cached && podKey(cached)
    if (cached === undefined || report === undefined || key === undefined) return
    if (podStatusPatch(cached, report) === undefined && !this.isRemovable(cached, report)) return
    // One try: another pod's status does not wait for this one's.
    const options = { signal, timeoutMs, retry: 'never' } as const
    const object = await api.get<KubePod>(objectPath(pods, key), options)
    if (object?.metadata?.uid !== uid) return
    const patch = podStatusPatch(object, report)
    const path = objectPath(pods, { ...key, subresource: 'status' })
    const now = patch === undefined ? object : await api.patch<KubePod>(path, 'strategic', patch, options)
    known.heard(now)
    if (!this.isRemovable(now, report)) return
    await api.remove(objectPath(pods, key), { ...options, uid, gracePeriodSeconds: 0 })
    this.o.log.info('the pod has ended; its object is removed', { pod: `${key.namespace}/${key.name}`, uid })
  }

  private isRemovable(object: KubePod, { finished }: PodReport): boolean {
    return !isMirrorPod(object) && mayBeRemoved(object, finished)
  }
}

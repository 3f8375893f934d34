// Ends pods so that a critical one fits: each hears why, in its status and as an event.
import type { PodSpec } from '../../core/pod/spec/spec.js'
import type { PodContext } from '../pods/context.js'
import type { PodRunner } from '../pods/run/runner.js'

const reason = 'Preempting'
const message = 'Preempted in order to admit critical pod'
const conditions = [
  {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'TerminationByKubelet',
    message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
  },
] as const

export const preemptPods = (
  pods: readonly PodSpec[],
  runner: Pick<PodRunner, 'kill'>,
  { events, log }: Pick<PodContext, 'events' | 'log'>,
): Promise<unknown> =>
  Promise.all(
    pods.map(({ pod }) => {
      log.info('preempting a pod', { pod: `${pod.namespace}/${pod.name}`, uid: pod.uid })
      events.pod(pod, { type: 'Warning', reason, message })
      return runner.kill(pod.uid, { reason, message, conditions })
    }),
  )

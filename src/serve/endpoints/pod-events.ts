// /podevents/{namespace}/{pod}: the last events that this kubelet recorded about a pod, the newest last.
import { keelsonError } from '../../core/errors.js'
import type { Endpoint } from '../endpoint.js'
import { jsonAnswer } from '../failures.js'

export interface PodEventJson {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly container?: string
  readonly count: number
  readonly lastTimestamp: string
}

/** Undefined: there is no such pod here. */
type ReadPodEvents = (namespace: string, pod: string) => readonly PodEventJson[] | undefined

export const podEvents = (read: ReadPodEvents): Endpoint => ({
  name: 'podevents',
  path: '/podevents/{namespace}/{pod}',
  methods: ['GET'],
  handle(_, { params }) {
    const { namespace = '', pod = '' } = params
    const items = read(namespace, pod)
    if (items === undefined) throw keelsonError('pod.not-found', `pod ${JSON.stringify(pod)} does not exist`)
    return jsonAnswer({ items })
  },
})

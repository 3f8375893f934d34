// `keelson top` of a node whose runtime this machine cannot reach, such as one in the lab: its kubelet is asked for the same
// snapshot that the dashboard shows.
import type { CriLogLine } from '../../core/cri/log-line.js'
import type { LiveSnapshot } from '../../core/dashboard/model.js'
import type { LiveReader } from '../../serve/dashboard/dashboard.js'
import type { LogAnswer, ReadLog } from '../../top/read-log.js'
import type { KubeletClient } from '../pods/kubelet-client.js'

type Snapshots = Pick<LiveReader, 'take' | 'periodMs'>

export const snapshotsOf = (client: KubeletClient, periodMs: number): Snapshots => ({
  periodMs,
  async take(signal) {
    signal.throwIfAborted()
    return JSON.parse(await client.get('/live/snapshot')) as LiveSnapshot
  },
})

type ServedLog =
  | { readonly path: string; readonly lines: readonly CriLogLine[] }
  | { readonly absent: string }

export const readServedLog =
  (client: KubeletClient): ReadLog =>
  async (pod, container): Promise<LogAnswer> => {
    const path = [pod.namespace, pod.name, container.name].map(encodeURIComponent).join('/')
    const answer = JSON.parse(await client.get(`/live/logs/${path}`)) as ServedLog
    return 'absent' in answer ? answer : answer.lines
  }

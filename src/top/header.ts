// The lines above the table: the node, the runtime, and what is chosen.

import { hasList, type LiveSnapshot } from '../core/dashboard/model.js'
import { counted } from '../core/units/counted.js'
import { humanBytes } from '../core/units/human-bytes.js'
import type { TopState } from './state.js'
import type { Style } from './style.js'
import { clip, plain } from './text.js'

const percent = (part: number, whole: number): string =>
  whole > 0 ? `${Math.round((part * 100) / whole)} %` : '-'

function nodeLine({ node, pods, runtime }: LiveSnapshot): string {
  const capacity = Number(node.memoryCapacity)
  const used = capacity - Number(node.memoryAvailable)
  const containers = pods.reduce((sum, pod) => sum + pod.containers.length, 0)
  const cpu = node.cpuMilli === null ? '-' : percent(node.cpuMilli, node.cpus * 1000)
  const psi =
    node.pressure === null
      ? 'no PSI'
      : `PSI cpu ${node.pressure.cpu?.some ?? '-'} mem ${node.pressure.memory?.some ?? '-'} io ${node.pressure.io?.some ?? '-'}`
  return [
    plain(node.name),
    hasList(runtime) ? `${counted(pods.length, 'pod')}, ${counted(containers, 'container')}` : 'pods unknown',
    `CPU ${cpu} of ${node.cpus}`,
    `MEM ${humanBytes(used)} of ${humanBytes(capacity)} (${percent(used, capacity)})`,
    psi,
    `cgroup ${node.cgroupVersion ?? '-'}`,
    `kernel ${plain(node.kernel)}`,
  ].join('  ')
}

function runtimeLine({ runtime }: LiveSnapshot): string {
  const where = plain(runtime.endpoint)
  if (runtime.state === 'ready') return `runtime ${where}`
  if (runtime.state === 'starting') return `waiting for the runtime at ${where}`
  const age = runtime.listAgeSeconds === null ? 'no list yet' : `list is ${runtime.listAgeSeconds} s old`
  return `runtime is unreachable, ${age}: ${plain(runtime.problem ?? '')}`
}

function choiceLine(state: TopState, shown: number, all: number): string {
  const filter = state.typing
    ? `filter: ${state.filter}_`
    : state.filter === ''
      ? ''
      : `filter: ${state.filter} (${shown} of ${all})`
  return [`sort: ${state.sort} ${state.ascending ? 'up' : 'down'}`, `view: ${state.layout}`, filter]
    .filter(Boolean)
    .join('  ')
}

export function formatHeader(
  snapshot: LiveSnapshot,
  state: TopState,
  /** Pods that have a row, however many rows their containers have. */
  shownPods: number,
  width: number,
  style: Style,
): string[] {
  const runtime = clip(runtimeLine(snapshot), width)
  return [
    style.bold(clip(nodeLine(snapshot), width)),
    snapshot.runtime.state === 'away' ? style.red(runtime) : style.dim(runtime),
    clip(choiceLine(state, shownPods, snapshot.pods.length), width),
  ]
}

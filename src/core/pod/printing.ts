// Pods as people read them: the columns of `kubectl get pods`, and the word that says how a pod is.

import { parseTime } from '../units/rfc3339.js'
import type { PodJson } from './document.js'
import type { ContainerStatusJson } from './status-json.js'

export interface PodRow {
  readonly namespace: string
  readonly name: string
  readonly ready: string
  readonly status: string
  readonly restarts: string
  readonly age: string
  readonly ip: string
  readonly node: string
  /** Where the pod came from: `file` or `api`. */
  readonly source: string
}

export function podRow(pod: PodJson, nowNanos: bigint): PodRow {
  const { containerStatuses: app, initContainerStatuses: init = [], podIP = '<none>' } = pod.status
  const sidecars = init.filter((c) => isSidecar(pod, c.name))
  const counted = [...sidecars, ...app]
  const { status, initializing } = statusWord(pod, init)
  // While init containers run, theirs are the restarts that matter.
  const restarting = initializing ? init : counted
  const node = pod.spec['nodeName']
  return {
    namespace: pod.metadata.namespace,
    name: pod.metadata.name,
    ready: `${counted.filter((c) => c.ready && c.state.running !== undefined).length}/${counted.length}`,
    status,
    restarts: restartsOf(restarting, nowNanos),
    age: ageOf(pod.metadata.creationTimestamp, nowNanos),
    ip: podIP,
    node: typeof node === 'string' ? node : '<none>',
    source: sourceOf(pod),
  }
}

/** A pod of the API server has no such note of its own. */
export const sourceOf = ({ metadata }: PodJson): string =>
  metadata.annotations?.['kubernetes.io/config.source'] ?? 'api'

const isSidecar = (pod: PodJson, name: string): boolean =>
  specsOf(pod, 'initContainers').some((c) => c['name'] === name && c['restartPolicy'] === 'Always')

const specsOf = (pod: PodJson, key: string): readonly Readonly<Record<string, unknown>>[] =>
  (pod.spec[key] ?? []) as readonly Readonly<Record<string, unknown>>[]

function statusWord(
  pod: PodJson,
  init: readonly ContainerStatusJson[],
): { readonly status: string; readonly initializing: boolean } {
  const word = initWord(pod, init)
  const status = word ?? appWord(pod)
  const isEnding = pod.metadata.deletionTimestamp !== undefined
  return { status: isEnding ? 'Terminating' : status, initializing: word !== undefined }
}

function initWord(pod: PodJson, init: readonly ContainerStatusJson[]): string | undefined {
  for (const [i, container] of init.entries()) {
    const { terminated, waiting, running } = container.state
    if (terminated?.exitCode === 0) continue
    if (isSidecar(pod, container.name) && running !== undefined) continue
    if (pod.status.conditions.some((c) => c.type === 'Initialized' && c.status === 'True')) continue
    if (terminated !== undefined) return `Init:${terminated.reason}`
    if (waiting !== undefined && waiting.reason !== 'PodInitializing') return `Init:${waiting.reason}`
    return `Init:${i}/${init.length}`
  }
  return undefined
}

function appWord(pod: PodJson): string {
  const { phase, reason, containerStatuses } = pod.status
  let word: string = reason ?? phase
  let isRunning = false
  for (const { state, ready } of containerStatuses.toReversed()) {
    if (state.waiting !== undefined) word = state.waiting.reason
    else if (state.terminated !== undefined) word = state.terminated.reason
    else if (ready) isRunning = true
  }
  // One container that is done beside one that runs: the pod as a whole runs.
  return word === 'Completed' && isRunning ? 'Running' : word
}

function restartsOf(containers: readonly ContainerStatusJson[], nowNanos: bigint): string {
  const count = containers.reduce((sum, c) => sum + c.restartCount, 0)
  const last = containers
    .flatMap((c) => parseTime(c.lastState.terminated?.finishedAt ?? '') ?? [])
    .reduce<bigint | undefined>((latest, t) => (latest === undefined || t > latest ? t : latest), undefined)
  return count === 0 || last === undefined ? String(count) : `${count} (${formatAge(nowNanos - last)} ago)`
}

const ageOf = (time: string | null, nowNanos: bigint): string => {
  const at = time === null ? undefined : parseTime(time)
  return at === undefined ? '<unknown>' : formatAge(nowNanos - at)
}

/** `5s`, `4m10s`, `3h5m`, `2d3h`, `12d`: two units while they matter, as kubectl. */
export function formatAge(nanos: bigint): string {
  const seconds = nanos < 0n ? 0n : nanos / 1_000_000_000n
  const minutes = seconds / 60n
  const hours = minutes / 60n
  const days = hours / 24n
  if (minutes < 2n) return `${seconds}s`
  if (minutes < 10n) return seconds % 60n === 0n ? `${minutes}m` : `${minutes}m${seconds % 60n}s`
  if (hours < 3n) return `${minutes}m`
  if (hours < 8n) return minutes % 60n === 0n ? `${hours}h` : `${hours}h${minutes % 60n}m`
  if (hours < 48n) return `${hours}h`
  if (days < 8n) return hours % 24n === 0n ? `${days}d` : `${days}d${hours % 24n}h`
  return `${days}d`
}

/** Columns as wide as their widest cell, three blanks between. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

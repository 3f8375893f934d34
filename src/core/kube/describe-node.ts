// A Node on one page, for `keelson describe node`: what the cluster believes, and how old that is.
import { leaseAgeMs } from './lease-age.js'
import type { KubeNode, Lease } from './objects.js'

export interface NodeEventLine {
  readonly type: string
  readonly reason: string
  readonly message: string
  /** RFC 3339 */
  readonly at: string
}

interface NodePage {
  readonly node: KubeNode
  readonly lease: Lease | undefined
  /** Newest last. */
  readonly events: readonly NodeEventLine[]
  readonly nowMs: number
}

const indent = '  '

export function describeNode({ node, lease, events, nowMs }: NodePage): string {
  const { metadata = {}, spec = {}, status = {} } = node
  const { nodeInfo = {} } = status
  return [
    ...fields([
      ['Name', metadata.name ?? ''],
      ['Created', age(metadata.creationTimestamp, nowMs)],
      ['Lease', leaseLine(lease, nowMs)],
      ['Schedulable', spec.unschedulable === true ? 'no (cordoned)' : 'yes'],
      ['Pod addresses', (spec.podCIDRs ?? []).join(', ') || '-'],
      ['Kubelet', `${nodeInfo.kubeletVersion ?? ''}, ${nodeInfo.containerRuntimeVersion ?? ''}`],
      [
        'Machine',
        `${nodeInfo.osImage ?? ''}, Linux ${nodeInfo.kernelVersion ?? ''} ${nodeInfo.architecture ?? ''}`,
      ],
    ]),
    ...section(
      'Conditions',
      table(
        ['TYPE', 'STATUS', 'SINCE', 'REASON', 'MESSAGE'],
        (status.conditions ?? []).map((c) => [
          c.type,
          c.status,
          age(c.lastTransitionTime, nowMs),
          c.reason ?? '',
          c.message ?? '',
        ]),
      ),
    ),
    ...section(
      'Addresses',
      (status.addresses ?? []).map((a) => `${a.type}: ${a.address}`),
    ),
    ...section(
      'Resources',
      table(
        ['NAME', 'CAPACITY', 'ALLOCATABLE'],
        Object.entries(status.capacity ?? {})
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, amount]) => [name, amount, status.allocatable?.[name] ?? '-']),
      ),
    ),
    ...section(
      'Taints',
      (spec.taints ?? []).map((t) => `${t.key}${t.value === undefined ? '' : `=${t.value}`}:${t.effect}`),
    ),
    ...section(
      'Labels',
      Object.entries(metadata.labels ?? {}).map(([k, v]) => `${k}=${v}`),
    ),
    ...section(
      'Events',
      table(
        ['AGE', 'TYPE', 'REASON', 'MESSAGE'],
        events.map((e) => [age(e.at, nowMs), e.type, e.reason, e.message]),
      ),
    ),
    '',
  ].join('\n')
}

function leaseLine(lease: Lease | undefined, nowMs: number): string {
  const ageMs = lease === undefined ? undefined : leaseAgeMs(lease, nowMs)
  if (ageMs === undefined) return 'none'
  return `renewed ${span(ageMs)} ago, lasts ${lease?.spec?.leaseDurationSeconds ?? '?'} s`
}

const age = (time: string | undefined, nowMs: number): string => {
  const at = Date.parse(time ?? '')
  return Number.isNaN(at) ? '-' : span(nowMs - at)
}

/** `42s`, `3m`, `5h`, `12d`; a clock that is ahead is no age. */
function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 120) return `${seconds}s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`
}

const fields = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${printable(value)}`)
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [`${title}: none`] : [`${title}:`, ...lines.map((line) => indent + printable(line))]

/** Nothing without rows: the section then says so. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return []
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const format = (row: readonly string[]): string =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd((widths[i] ?? 0) + 2))).join('')
  return [head, ...rows].map((row) => format(row).trimEnd())
}

/** Other people's text must not move a terminal's cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')

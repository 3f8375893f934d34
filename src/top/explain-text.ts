// One pod as text: its limits and thresholds, the effective values, and what happens next.

import type {
  LiveCgroupRow,
  LiveContainer,
  LivePod,
  LiveRequest,
  LiveSnapshot,
} from '../core/dashboard/model.js'
import { humanBytes } from '../core/units/human-bytes.js'
import { pad, plain } from './text.js'

const shown = (amount: string | null): string =>
  amount === null ? '-' : amount === 'max' ? 'max' : humanBytes(BigInt(amount))

const origins: Readonly<Record<NonNullable<LiveRequest['from']>, string>> = {
  spec: 'from the pod spec',
  'memory.min': 'read back from memory.min',
  'memory.low': 'read back from memory.low',
  limit: 'equal to the limit: Guaranteed',
  oom_score_adj: 'estimated from oom_score_adj',
}

function requestLine({ cpuMilli, memory, from }: LiveRequest): string {
  const cpu = cpuMilli === null ? 'cpu -' : `cpu ${cpuMilli}m`
  const text = memory === null ? 'memory -' : `memory ${shown(memory)}`
  return `  request  ${cpu}, ${text}${from === null ? '' : ` (${origins[from]})`}`
}

function containerLines(c: LiveContainer): string[] {
  const { memory } = c.values
  return [
    `container ${plain(c.name)}  ${plain(c.image)}`,
    `  next     ${c.next.text}`,
    requestLine(c.request),
    memory === null
      ? '  memory   no values'
      : `  memory   usage ${shown(memory.usage)}, working set ${shown(memory.workingSet)}, cache ${shown(memory.cache)}; ` +
        `min ${shown(memory.min)}, low ${shown(memory.low)}, high ${shown(memory.high)}, max ${shown(memory.max)}`,
    memory === null
      ? ''
      : `  events   high ${memory.highEvents ?? '-'}, max ${memory.maxEvents ?? '-'}, oom_kill ${memory.oomKills ?? '-'}`,
    '',
  ].filter((line, i) => i !== 4 || line !== '')
}

const isOnTheWay = (row: LiveCgroupRow, pod: LivePod): boolean =>
  pod.cgroup !== null &&
  (pod.cgroup === row.path || pod.cgroup.startsWith(`${row.path}/`) || row.path.startsWith(`${pod.cgroup}/`))

function treeLines({ cgroups }: LiveSnapshot, pod: LivePod): string[] {
  if ('absent' in cgroups) return [`cgroup tree: ${cgroups.absent}`]
  const rows = cgroups.data.filter((row) => isOnTheWay(row, pod))
  if (rows.length === 0) return ['cgroup tree: this pod has no readable cgroup']
  const files = ['memory.min', 'memory.low', 'memory.high', 'memory.max']
  const titles = ['usage', ...files.map((file) => file.slice('memory.'.length))]
  const value = (row: LiveCgroupRow, file: string): string => {
    const found = row.files.find((f) => f.file === file)
    if (found === undefined || found.written === null) return '-'
    const kept =
      found.effective !== null && found.effective !== found.written ? `>${shown(found.effective)}` : ''
    return `${shown(found.written)}${kept}`
  }
  const capped = rows.flatMap((row) =>
    row.files
      .filter(
        (f) => f.cappedBy !== null && f.written !== 'max' && f.written !== '0' && f.file !== 'memory.max',
      )
      .map((f) => `${f.file} of ${plain(row.title)} is capped by ${plain(f.cappedBy ?? '')}`),
  )
  return [
    `cgroup tree: written value > effective value`,
    `  ${pad('', 26)}${titles.map((t) => pad(t, 15, 'right')).join(' ')}`,
    ...rows.map(
      (row) =>
        `  ${pad(' '.repeat(row.depth) + plain(row.title), 26)}${[shown(row.usage), ...files.map((f) => value(row, f))].map((t) => pad(t, 15, 'right')).join(' ')}`,
    ),
    ...capped.map((line) => `  ! ${line}`),
  ]
}

export function explainLines(snapshot: LiveSnapshot, pod: LivePod | undefined): string[] {
  if (pod === undefined) return ['this pod is gone']
  const sources = {
    cgroup: 'cgroup files',
    cri: 'the runtime; its cgroup is not readable',
    none: 'none',
  }
  return [
    `pod ${plain(pod.namespace)}/${plain(pod.name)}  ${pod.qosClass ?? 'no QoS class'}  uid ${plain(pod.uid)}`,
    `values   ${sources[pod.source]}${pod.cgroup === null ? '' : `, ${pod.cgroup}`}`,
    `next     ${pod.next.text}`,
    '',
    ...pod.containers.flatMap(containerLines),
    ...treeLines(snapshot, pod),
  ]
}

// `keelson explain --live`: what a running kubelet or companion intends, what the kernel's files hold, and how much of it the
// kernel really protects.
import { keelsonError } from '../../core/errors.js'
import type { LiveFile, LiveReport, LiveRow } from '../../core/memory-qos/effective-values.js'
import type { Finding } from '../../core/memory-qos/findings.js'
import { defaultPorts, defaultSettings } from '../../serve/settings.js'
import type { ReachOptions } from '../pods/find-kubelet.js'
import { createKubeletClient } from '../pods/kubelet-client.js'

interface LiveAnswer extends LiveReport {
  readonly findings: readonly Finding[]
}

/** The companion keeps its certificate apart from the kubelet's. */
const certificateOf = ({ certificate, server }: ReachOptions): string | undefined => {
  if (certificate !== undefined || server === undefined || !URL.canParse(server)) return certificate
  if (new URL(server).port !== String(defaultPorts.companion)) return undefined
  return `${defaultSettings('companion', '').certDirectory}/companion.crt`
}

export async function askLive(reach: ReachOptions, pod: string | undefined): Promise<LiveAnswer> {
  const certificate = certificateOf(reach)
  const client = createKubeletClient({ ...reach, ...(certificate === undefined ? {} : { certificate }) })
  const ask = async (query: string): Promise<LiveAnswer> =>
    JSON.parse(await client.get(`/memoryqos${query}`)) as LiveAnswer
  if (pod === undefined) return ask('')
  const of = (name: string): string => `?pod=${encodeURIComponent(name)}`
  const answer = await ask(of(pod))
  // No rows at all: nothing is written here yet, which says nothing about pods.
  if (answer.rows.length === 0 || answer.rows.some((row) => row.pod !== null)) return answer
  return ask(of(chooseName(await ask(''), pod)))
}

/** The one pod whose name is this one and the node's; static pods carry it, but it may be omitted. */
function chooseName({ rows }: LiveAnswer, name: string): string {
  const all = [...new Set(rows.flatMap((row) => (row.pod === null ? [] : [row.pod])))]
  const [first, second] = all.filter((full) => `/${full}`.includes(`/${name}-`))
  if (first === undefined)
    throw keelsonError(
      'pod.not-found',
      `pod ${name} not found; pods on this node: ${all.length === 0 ? 'none' : all.map((full) => full.slice(full.indexOf('/') + 1)).join(', ')}`,
      { name },
    )
  if (second !== undefined)
    throw keelsonError(
      'usage.invalid',
      `several pods begin with ${name}: ${first}, ${second}; use the full name`,
    )
  return first
}

const columns = ['file', 'intended', 'written', 'effective', ''] as const
const dash = '-'

const cells = (f: LiveFile): readonly string[] => [
  f.file,
  f.intended ?? dash,
  f.written ?? 'no such file',
  f.effective ?? dash,
  remark(f),
]

function remark({ cappedBy, file, intended, reason, written }: LiveFile): string {
  if (cappedBy !== null) return file === 'memory.high' ? `${cappedBy} is lower` : `capped by ${cappedBy}`
  if (intended !== null && written !== null && differs(intended, written)) return 'not written yet'
  return reason ?? ''
}

/** The kernel keeps whole pages, so a few bytes less are the same value. */
function differs(intended: string, written: string): boolean {
  if (intended === 'max' || written === 'max') return intended !== written
  const gap = BigInt(intended) - BigInt(written)
  return gap < 0n || gap >= 65_536n
}

function block(row: LiveRow, widths: readonly number[]): string {
  const about = [
    row.usage === null ? '' : `uses ${row.usage}`,
    row.throttleEvents === null ? '' : `throttled ${row.throttleEvents} times`,
    row.pressureAvg10 === null ? '' : `memory pressure ${row.pressureAvg10.toFixed(2)} %`,
  ].filter((part) => part !== '')
  const title = row.pod === null || row.level === 'pod' ? row.title : `${row.title} of ${row.pod}`
  const line = (parts: readonly string[]): string =>
    `    ${parts.map((part, i) => (i === parts.length - 1 ? part : part.padEnd(widths[i] ?? 0))).join('  ')}`.trimEnd()
  return [
    `${title}${about.length === 0 ? '' : ` (${about.join(', ')})`}`,
    `  ${row.path}`,
    line(columns),
    ...row.files.map((file) => line(cells(file))),
  ].join('\n')
}

export function renderLive({ findings, rows }: LiveAnswer): string {
  const all = [columns, ...rows.flatMap((row) => row.files.map(cells))]
  const widths = columns.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)))
  const parts = rows.map((row) => block(row, widths))
  const notes = findings.map((f) => `finding ${f.id}: ${f.subject}: ${f.message}; ${f.remedy}`)
  if (rows.length === 0) parts.push('no cgroups yet: Memory QoS has not finished its first pass')
  return `${[...parts, ...notes].join('\n\n')}\n`
}

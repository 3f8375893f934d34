// An explanation as text for a person: one block per cgroup, one line per file, the reason beside the value.
import type { ExplainedCgroup, ExplainedFile, Explanation } from '../../core/plan/explain.js'
import { formatQuantity, quantityOfBytes } from '../../core/units/quantity.js'
import type { ExplainHeader } from './report.js'

const nothing = '-'

export function renderTable(header: ExplainHeader, explanation: Explanation): string {
  const blocks = [
    headerLines(header),
    ...explanation.pods.flatMap((pod) => [
      [
        `Pod ${pod.namespace}/${pod.name}: ${pod.qosClass}${pod.origin.startsWith('Pod') ? '' : `, from ${pod.origin}`}`,
      ],
      ...pod.containers.map(cgroupLines),
      cgroupLines(pod.pod),
    ]),
    [
      `Above ${explanation.pods.length === 1 ? 'this pod' : `these ${explanation.pods.length} pods`}, if no others run on the node:`,
    ],
    ...explanation.ancestors.map(cgroupLines),
  ]
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function headerLines(h: ExplainHeader): string[] {
  const memoryQos = h.memoryQos.enabled
    ? `MemoryQoS on, factor ${h.memoryQos.factor ?? 'unset'}, policy ${h.memoryQos.policy}`
    : 'MemoryQoS off'
  return [
    `Kubernetes ${h.kubernetesVersion}, profile ${h.profile}, ${memoryQos}`,
    `memory capacity ${h.memoryCapacity ?? 'unknown'}, allocatable ${h.allocatableMemory ?? 'unknown'}, pages of ${h.pageSize}`,
    ...h.notes.map((note) => `note: ${note}`),
  ]
}

function cgroupLines(cgroup: ExplainedCgroup): string[] {
  const rows = cgroup.files.map((f): [string, string, string] => [f.file, valueText(f), whyText(f)])
  const width = (column: 0 | 1): number => Math.max(...rows.map((r) => r[column].length))
  const [files, values] = [width(0), width(1)]
  return [
    `  ${cgroup.title}`,
    `    cgroupfs  ${cgroup.paths.cgroupfs}`,
    `    systemd   ${cgroup.paths.systemd}`,
    ...rows.map(([file, value, why]) => `      ${file.padEnd(files)}  ${value.padEnd(values)}  ${why}`),
  ]
}

function valueText({ file, outcome }: ExplainedFile): string {
  if (outcome.kind === 'not-written') return nothing
  const { value } = outcome
  if (typeof value === 'string' || !file.startsWith('memory.') || value < 1024n) return `${value}`
  return `${value} (${formatAmount(value)})`
}

/** `268435456` is 256Mi; what is not whole is rounded down to a tenth, because the exact number is printed as well. */
function formatAmount(value: bigint): string {
  const exact = formatQuantity(quantityOfBytes(value))
  if (exact.length <= 7) return exact
  const units = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
  let step = 0
  while (step < units.length - 1 && value >> BigInt(10 * (step + 2)) > 0n) step++
  const tenths = (value * 10n) >> BigInt(10 * (step + 1))
  return `~${tenths / 10n}.${tenths % 10n}${units[step]}`
}

function whyText({ outcome }: ExplainedFile): string {
  const formula = outcome.formula === undefined ? '' : `: ${outcome.formula}`
  return `${outcome.kind === 'not-written' ? 'not written: ' : ''}${outcome.reason}${formula}`
}

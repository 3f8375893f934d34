// The pods of /stats/summary as flat series, so that they can be compared like metrics:
// `memory.usageBytes{container="app",namespace="default",pod="web"}`.
import type { PrintedSeries } from './read-text.js'

/** Names of volumes and interfaces tell array elements apart. */
const named = (value: object): string | undefined =>
  'name' in value && typeof value.name === 'string' ? value.name : undefined

const counters = /(usageCoreNanoSeconds|[pP]ageFaults|(rx|tx)(Bytes|Errors)|psi\.(some|full)\.total)$/
/** Times, and averages over moments that no two readers share. */
const unlike = /(^|\.)(time|startTime|usageNanoCores|avg\d+)$/

function flatten(value: unknown, path: string, into: (path: string, value: number) => void): void {
  if (typeof value === 'number') into(path, value)
  else if (Array.isArray(value))
    for (const item of value as readonly unknown[])
      if (typeof item === 'object' && item !== null) flatten(item, `${path}[${named(item) ?? ''}]`, into)
      else flatten(item, path, into)
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value))
      flatten(inner, path === '' ? key : `${path}.${key}`, into)
}

interface SummaryPart {
  readonly name?: string
  readonly podRef?: { readonly name: string; readonly namespace: string }
  readonly containers?: readonly SummaryPart[] | null
}

export function summarySeries(json: string): PrintedSeries[] {
  const { pods } = JSON.parse(json) as { readonly pods: readonly SummaryPart[] }
  const series: PrintedSeries[] = []
  const add = (part: object, block: string): void =>
    flatten(part, '', (name, value) => {
      if (!unlike.test(name))
        series.push({ name, type: counters.test(name) ? 'counter' : 'gauge', block, value })
    })
  for (const { podRef, containers, ...pod } of pods) {
    const where = `namespace="${podRef?.namespace}",pod="${podRef?.name}"`
    add(pod, `{container="",${where}}`)
    for (const { name, ...container } of containers ?? []) add(container, `{container="${name}",${where}}`)
  }
  return series
}

// Grouped bars as SVG: one group a workload (or the node), one bar a mode, above without swap and below with it.
import type { RunResult } from './scene.js'

const colours = ['#8a8f98', '#d08b2c', '#2f6fb2', '#3d9a5f'] as const
const width = 760
const panel = 200
const left = 60
const bottom = 28

/** One group of bars, a bar a run: a share between 0 and 1, and a red number above it. */
export interface Bar {
  readonly share: number
  readonly oomKills: number
}
export interface PlotOf {
  readonly title: string
  readonly groups: (run: RunResult) => ReadonlyMap<string, Bar>
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const tops = [0.1, 0.2, 0.5, 1]
/** The axis ends at the next of these, so that small shares can be told apart. */
const topOf = (results: readonly RunResult[], of: PlotOf): number => {
  const most = Math.max(...results.flatMap((r) => [...of.groups(r).values()].map((b) => b.share)))
  return tops.find((top) => most <= top) ?? 1
}

interface Panel {
  readonly results: readonly RunResult[]
  readonly y: number
  readonly title: string
  readonly top: number
}

function drawPanel({ results, y: start, title, top }: Panel, of: PlotOf): string {
  const [first] = results
  const names = first === undefined ? [] : [...of.groups(first).keys()]
  const group = (width - left - 20) / Math.max(1, names.length)
  const bar = (group - 24) / Math.max(1, results.length)
  const height = panel - bottom - 44
  const base = start + 44 + height
  const parts: string[] = [`<text x="${left}" y="${start + 18}" font-weight="600">${escaped(title)}</text>`]
  for (const share of [0, 0.5, 1]) {
    const y = base - share * height
    parts.push(
      `<line x1="${left}" x2="${width - 20}" y1="${y}" y2="${y}" stroke="#d5d8dd"/>`,
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${share * top * 100} %</text>`,
    )
  }
  for (const [i, name] of names.entries()) {
    const x = left + i * group + 12
    for (const [j, result] of results.entries()) {
      const { share = 0, oomKills = 0 } = of.groups(result).get(name) ?? {}
      const h = Math.max(1, (Math.min(top, share) / top) * height)
      parts.push(
        `<rect x="${(x + j * bar).toFixed(1)}" y="${(base - h).toFixed(1)}" width="${(bar - 3).toFixed(1)}" height="${h.toFixed(1)}" fill="${colours[j] ?? '#000'}"/>`,
      )
      if (oomKills > 0)
        parts.push(
          `<text x="${(x + j * bar + (bar - 3) / 2).toFixed(1)}" y="${(base - h - 4).toFixed(1)}" text-anchor="middle" font-size="11" fill="#b3261e">${oomKills}</text>`,
        )
    }
    parts.push(
      `<text x="${x + group / 2 - 12}" y="${base + 16}" text-anchor="middle">${escaped(name)}</text>`,
    )
  }
  return parts.join('\n')
}

export function plot(results: readonly RunResult[], of: PlotOf): string {
  const modes = [...new Set(results.map((r) => r.mode))]
  const legend = modes
    .map(
      (mode, i) =>
        `<rect x="${left + i * 150}" y="8" width="12" height="12" fill="${colours[i] ?? '#000'}"/><text x="${left + 18 + i * 150}" y="19">${escaped(mode)}</text>`,
    )
    .join('\n')
  const height = 34 + 2 * panel
  const top = topOf(results, of)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#24292f" role="img" aria-label="${escaped(of.title)}">
<rect width="${width}" height="${height}" fill="#ffffff"/>
${legend}
<text x="${left + modes.length * 150}" y="19" fill="#b3261e">n OOM kills</text>
${drawPanel({ results: results.filter((r) => !r.swap), y: 28, title: `${of.title}, without swap`, top }, of)}
${drawPanel({ results: results.filter((r) => r.swap), y: 28 + panel, title: 'with swap', top }, of)}
</svg>
`
}

// The table as SVG: for each speed of growth a bar of the runs with Memory QoS off and on, green where eviction came first and red
// where the OOM killer did; one panel a scene.
import { modes, type RunResult, rates, scenes } from './scene.js'

const width = 760
const panel = 190
const left = 60
const colours = { eviction: '#3d9a5f', 'OOM killer': '#b3261e', neither: '#8a8f98' } as const

const text = (x: number, y: number, words: string, more = ''): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${words}</text>`

function drawPanel(results: readonly RunResult[], scene: string, start: number): string {
  const runs = results.filter((r) => r.scene === scene)
  const most = Math.max(
    1,
    ...rates.map((rate) => runs.filter((r) => r.rate === rate && r.mode === 'on').length),
  )
  const height = panel - 80
  const base = start + 34 + height
  const group = (width - left - 20) / rates.length
  const bar = group / 4
  const parts = [text(left, start + 18, scene, 'font-weight="600"')]
  for (const n of [0, most]) {
    const y = base - (n / most) * height
    parts.push(
      `<line x1="${left}" x2="${width - 20}" y1="${y}" y2="${y}" stroke="#d5d8dd"/>`,
      text(left - 8, y + 4, String(n), 'text-anchor="end"'),
    )
  }
  for (const [i, rate] of rates.entries()) {
    const middle = left + (i + 0.5) * group
    for (const [j, mode] of modes.entries()) {
      const x = middle + (j - 1) * (bar + 6) + 3
      let y = base
      for (const [first, colour] of Object.entries(colours)) {
        const count = runs.filter((r) => r.rate === rate && r.mode === mode && r.first === first).length
        const h = (count / most) * height
        y -= h
        if (count > 0)
          parts.push(
            `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${bar.toFixed(1)}" height="${h.toFixed(1)}" fill="${colour}"/>`,
          )
      }
      parts.push(text(x + bar / 2, base + 14, mode, 'text-anchor="middle" font-size="10"'))
    }
    parts.push(text(middle, base + 30, `${rate} MiB/s`, 'text-anchor="middle"'))
  }
  return parts.join('\n')
}

export function plot(results: readonly RunResult[]): string {
  const height = 34 + panel * scenes.length
  const legend = Object.entries(colours)
    .map(
      ([name, colour], i) =>
        `<rect x="${left + i * 150}" y="8" width="12" height="12" fill="${colour}"/>${text(left + 18 + i * 150, 19, name === 'neither' ? 'neither' : `${name} first`)}`,
    )
    .join('\n')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#24292f" role="img" aria-label="Runs in which eviction or the OOM killer came first">
<rect width="${width}" height="${height}" fill="#ffffff"/>
${legend}
${scenes.map((scene, i) => drawPanel(results, scene.name, 28 + i * panel)).join('\n')}
</svg>
`
}

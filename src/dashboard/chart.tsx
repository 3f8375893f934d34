// One chart over time. What is drawn is also said in words, for those who do not see it.
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import type { Series } from './history.js'

interface Curve {
  readonly label: string
  /** Name of a custom property of the style sheet. */
  readonly color: string
  readonly values: Series
}

interface ChartProps {
  readonly title: string
  readonly times: readonly number[]
  readonly curves: readonly Curve[]
  readonly format: (value: number | null) => string
  /** Why nothing is drawn. */
  readonly absent: string | null
}

const height = 150

/** Seconds between two labels. Below one second two labels would read the same. */
const labelSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600]
/** Half of a label's width: the last one is below the last sample and must not be cut off. */
const labelRoom = 32

const styleOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** 24 hours everywhere; the date is in the user's locale. */
const clockText = (seconds: number): string => new Date(seconds * 1000).toTimeString().slice(0, 8)

const lastOf = ({ values }: Curve): number | null => values.at(-1) ?? null

function create(into: HTMLElement, { curves, format }: ChartProps): uPlot {
  const axis = {
    stroke: styleOf('--dim'),
    grid: { stroke: styleOf('--line'), width: 1 },
    ticks: { show: false },
  }
  return new uPlot(
    {
      width: into.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, labelRoom, 0, 0],
      scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1)] } },
      axes: [
        { ...axis, size: 30, space: 80, incrs: labelSteps, values: (_, ticks) => ticks.map(clockText) },
        { ...axis, size: 58, space: 34, values: (_, ticks) => ticks.map((t) => format(t)) },
      ],
      series: [
        {},
        ...curves.map(({ label, color }) => ({
          label,
          stroke: styleOf(color),
          width: 2,
          points: { show: false },
          spanGaps: false,
        })),
      ],
    },
    [[], ...curves.map(() => [])],
    into,
  )
}

/** Goes up when colours have to be looked up again. */
function useTheme(): number {
  const [version, setVersion] = useState(0)
  useEffect(() => {
    const again = (): void => setVersion((v) => v + 1)
    const query = matchMedia('(prefers-color-scheme: dark)')
    addEventListener('keelson-theme', again)
    query.addEventListener('change', again)
    return () => {
      removeEventListener('keelson-theme', again)
      query.removeEventListener('change', again)
    }
  }, [])
  return version
}

export function Chart(props: ChartProps) {
  const { title, times, curves, format, absent } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>()
  const theme = useTheme()
  const isEmpty = absent !== null
  useEffect(() => {
    const into = place.current
    if (isEmpty || into === null) return
    const made = create(into, props)
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: into.clientWidth, height }))
    resized.observe(into)
    return () => {
      resized.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [isEmpty, theme, curves.length])
  useEffect(() => {
    plot.current?.setData([[...times], ...curves.map((c) => [...c.values])])
  })
  const spoken = curves.map((c) => `${c.label} ${format(lastOf(c))}`).join(', ')
  return (
    <figure class="panel chart">
      <figcaption>
        <h3>{title}</h3>
        {!isEmpty && (
          <ul class="key">
            {curves.map((c) => (
              <li key={c.label}>
                <span class="swatch" style={{ background: `var(${c.color})` }} /> {c.label}{' '}
                <b>{format(lastOf(c))}</b>
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      {isEmpty ? (
        <p class="empty">{absent}</p>
      ) : (
        <div ref={place} class="plot" role="img" aria-label={`${title}, now: ${spoken}`} />
      )}
    </figure>
  )
}

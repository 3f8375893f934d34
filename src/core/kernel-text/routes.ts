// Default routes in /proc/net/route and /proc/net/ipv6_route: the interfaces that lead out, best first.

interface Route {
  readonly device: string
  readonly metric: number
}

const up = 0x1

const byMetric = (routes: readonly Route[]): readonly string[] =>
  [...routes].sort((a, b) => a.metric - b.metric).map((r) => r.device)

/** Columns: Iface Destination Gateway Flags RefCnt Use Metric Mask ...; numbers are hexadecimal, the metric is not. */
export const parseDefaultRoutes = (text: string): readonly string[] =>
  byMetric(
    text.split('\n').flatMap((line) => {
      const [device, destination, , flags, , , metric, mask] = line.trim().split(/\s+/)
      const isDefault = destination === '00000000' && mask === '00000000'
      if (device === undefined || !isDefault || (Number.parseInt(flags ?? '0', 16) & up) === 0) return []
      return [{ device, metric: Number(metric) }]
    }),
  )

const reject = 0x0200

/** Columns: destination, its prefix length, source, its prefix length, next hop, metric, two counters, flags, device. */
export const parseDefaultRoutes6 = (text: string): readonly string[] =>
  byMetric(
    text.split('\n').flatMap((line) => {
      const [destination, length, , , , metric, , , flags, device] = line.trim().split(/\s+/)
      const set = Number.parseInt(flags ?? '0', 16)
      const isDefault = /^0{32}$/.test(destination ?? '') && length === '00'
      if (device === undefined || !isDefault || (set & up) === 0 || (set & reject) !== 0) return []
      return [{ device, metric: Number.parseInt(metric ?? '0', 16) }]
    }),
  )

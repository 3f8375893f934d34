// The metrics registry of our own process, on prom-client, loaded when first wanted.
import type { Gauge, Metrics } from '../ports/metrics.js'

/** The library's own delay of the loop counts the time between two wake-ups: adapters/host has the delay itself. */
const seldomMs = 60_000
const isLoopLag = (name: string): boolean => name.startsWith('nodejs_eventloop_lag_')

export async function createProcessMetrics(
  options: { readonly processDefaults?: boolean } = {},
): Promise<Metrics> {
  // The bundler gives a CommonJS package to import() as its default export only.
  const { default: prom } = await import('prom-client')
  const registry = new prom.Registry()
  if (options.processDefaults !== false) {
    prom.collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: seldomMs })
    for (const { name } of registry.getMetricsAsArray().filter((metric) => isLoopLag(metric.name)))
      registry.removeSingleMetric(name)
  }
  const common = (name: string, help: string, labels: readonly string[] = []) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  })
  return {
    counter(name, help, labels) {
      // The kubelet and the CRI server inside it count repaired values together.
      const known = registry.getSingleMetric(name)
      const counter = known instanceof prom.Counter ? known : new prom.Counter(common(name, help, labels))
      return {
        inc: (l = {}, by = 1) => counter.inc({ ...l }, by),
        remove: (l) => counter.remove({ ...l }),
      }
    },
    gauge(name, help, labels, collect) {
      const gauge = new prom.Gauge({
        ...common(name, help, labels),
        ...(collect === undefined ? {} : { collect: () => collect(port) }),
      })
      const port: Gauge = {
        set: (value, l = {}) => gauge.set({ ...l }, value),
        inc: (l = {}, by = 1) => gauge.inc({ ...l }, by),
        dec: (l = {}, by = 1) => gauge.dec({ ...l }, by),
        remove: (l) => gauge.remove({ ...l }),
      }
      return port
    },
    histogram(name, help, buckets, labels) {
      const histogram = new prom.Histogram({ ...common(name, help, labels), buckets: [...buckets] })
      return {
        observe: (value, l = {}) => histogram.observe({ ...l }, value),
        remove: (l) => histogram.remove({ ...l }),
      }
    },
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}

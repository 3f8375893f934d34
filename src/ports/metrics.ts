// Metrics of our own process, as the parts that count see them. Values of pods and containers do not pass here.

export type Labels = Readonly<Record<string, string>>

export interface Counter {
  inc(labels?: Labels, by?: number): void
  /** Takes one series away: what it counted is gone. */
  remove(labels: Labels): void
}
export interface Gauge {
  set(value: number, labels?: Labels): void
  inc(labels?: Labels, by?: number): void
  dec(labels?: Labels, by?: number): void
  /** Takes one series away, so that it is absent and not 0. */
  remove(labels: Labels): void
}
interface Histogram {
  observe(value: number, labels?: Labels): void
  remove(labels: Labels): void
}

export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter
  /** `collect` runs before each scrape, for values that are read and not pushed. */
  gauge(name: string, help: string, labels?: readonly string[], collect?: (gauge: Gauge) => void): Gauge
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram
  /** Prometheus text, classic format. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

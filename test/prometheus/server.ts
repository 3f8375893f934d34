// Debian's Prometheus as a process of its own on loopback, and what it says over its HTTP API.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../support/command.js'

export interface PrometheusJob {
  readonly name: string
  readonly path: string
  readonly port: number
  readonly scheme: 'http' | 'https'
  readonly tokenFile?: string
  readonly honorTimestamps: boolean
}

export interface Sampled {
  readonly labels: Readonly<Record<string, string>>
  /** Time in seconds, and value. */
  readonly values: readonly (readonly [number, number])[]
}

export interface Prometheus {
  /** Instant query. */
  query(expression: string): Promise<readonly Sampled[]>
  /** One of its own counters, summed over labels. */
  own(name: string): Promise<number>
  targets(): Promise<readonly { readonly job: string; readonly health: string; readonly error: string }[]>
  rules(): Promise<readonly { readonly name: string; readonly health: string; readonly error: string }[]>
  log(): string
  close(): Promise<void>
}

/** JSON is YAML. */
const config = (jobs: readonly PrometheusJob[], intervalS: number, rules: string): object => ({
  global: {
    scrape_interval: `${intervalS}s`,
    scrape_timeout: `${intervalS}s`,
    evaluation_interval: `${intervalS}s`,
  },
  rule_files: [rules],
  scrape_configs: jobs.map((j) => ({
    job_name: j.name,
    scheme: j.scheme,
    metrics_path: j.path,
    honor_labels: true,
    honor_timestamps: j.honorTimestamps,
    ...(j.tokenFile === undefined ? {} : { authorization: { credentials_file: j.tokenFile } }),
    ...(j.scheme === 'https' ? { tls_config: { insecure_skip_verify: true } } : {}),
    static_configs: [{ targets: [`127.0.0.1:${j.port}`] }],
    relabel_configs: [
      { target_label: 'cluster', replacement: 'test' },
      { source_labels: ['__metrics_path__'], target_label: 'metrics_path' },
    ],
  })),
})

interface Answer<T> {
  readonly status: string
  readonly error?: string
  readonly data: T
}

interface Found {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>
    readonly value?: readonly [number, string]
    readonly values?: readonly (readonly [number, string])[]
  }[]
}

export async function startPrometheus(
  directory: string,
  jobs: readonly PrometheusJob[],
  options: { readonly intervalS: number; readonly rules: object },
): Promise<Prometheus> {
  const home = join(directory, 'prometheus')
  await mkdir(home, { recursive: true })
  const rules = join(home, 'rules.yaml')
  await writeFile(rules, JSON.stringify(options.rules))
  await writeFile(join(home, 'prometheus.yaml'), JSON.stringify(config(jobs, options.intervalS, rules)))
  const [port = 0] = await freePorts(1)
  const base = `http://127.0.0.1:${port}`
  const child: ChildProcess = spawn(
    'prometheus',
    [
      `--config.file=${home}/prometheus.yaml`,
      `--storage.tsdb.path=${home}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => {
      log = (log + data.toString()).slice(-100_000)
    })
  const gone = once(child, 'close')
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${base}/api/v1/${path}`, { signal: AbortSignal.timeout(20_000) })
    const answer = (await response.json()) as Answer<T>
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error ?? answer.status}`)
    return answer.data
  }
  const isReady = (): Promise<boolean> =>
    fetch(`${base}/-/ready`).then(
      (r) => r.ok,
      () => false,
    )
  for (const end = Date.now() + 30_000; !(await isReady()); await sleep(100))
    if (Date.now() > end || child.exitCode !== null) throw new Error(`prometheus did not start:\n${log}`)
  return {
    async query(expression) {
      const { result } = await ask<Found>(`query?query=${encodeURIComponent(expression)}`)
      return result.map(({ metric, value, values }) => ({
        labels: metric,
        values: (values ?? (value === undefined ? [] : [value])).map(([time, text]) => [time, Number(text)]),
      }))
    },
    async own(name) {
      const text = await (await fetch(`${base}/metrics`)).text()
      const lines = text.split('\n').filter((l) => l.startsWith(`${name}{`) || l.startsWith(`${name} `))
      if (lines.length === 0) throw new Error(`prometheus has no ${name}`)
      return lines.reduce((sum, l) => sum + Number(l.slice(l.lastIndexOf(' ') + 1)), 0)
    },
    async targets() {
      const { activeTargets } = await ask<{
        readonly activeTargets: readonly {
          readonly labels: { readonly job: string }
          readonly health: string
          readonly lastError: string
        }[]
      }>('targets')
      return activeTargets.map((t) => ({ job: t.labels.job, health: t.health, error: t.lastError }))
    },
    async rules() {
      const { groups } = await ask<{
        readonly groups: readonly {
          readonly rules: readonly {
            readonly name: string
            readonly health: string
            readonly lastError?: string
          }[]
        }[]
      }>('rules')
      return groups.flatMap((g) =>
        g.rules.map((r) => ({ name: r.name, health: r.health, error: r.lastError ?? '' })),
      )
    },
    log: () => log,
    async close() {
      child.kill('SIGTERM')
      await gone
    },
  }
}

// The commands that show values, on the real pods of this scenario: `keelson doctor series`, `keelson doctor parity`, and
// `keelson companion` as a process of its own that serves the three endpoints.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Io, processIo } from '../../../src/cli/io.js'
import { run } from '../../../src/cli/program.js'
import { startApiStub } from '../../memory-qos/api-stub.js'
import { ask } from '../../serve/client.js'
import type { Check } from '../../support/check.js'
import { freePorts } from '../../support/command.js'
import { readExposition } from '../../support/exposition.js'
import { endpoint } from './pod.js'

/** The same bundle is the command line when it is started again with this variable. */
const roleVariable = 'LAB_STATS_COMMAND'
const given = process.env[roleVariable]
if (given !== undefined) {
  const io = processIo()
  await run(JSON.parse(given) as string[], io)
  process.exit(io.exitCode)
}

async function keelson(...argv: readonly string[]): Promise<{ status: number; output: string }> {
  let output = ''
  const sink = { write: (text: string) => (output += text) }
  const io: Io = { stdout: sink, stderr: sink, stdin: process.stdin, env: process.env, exitCode: 0 }
  return { status: await run([...argv, '--runtime-endpoint', endpoint()], io), output }
}

interface Parity {
  readonly notCompared: readonly { readonly endpoint: string }[]
  readonly families: readonly {
    readonly endpoint: string
    readonly name: string
    readonly compared: number
    readonly result: string
  }[]
}

/** containerd 1.6 has no values of swap, and counts threads of containers for the pod's processes. */
const knownDifferences = /^(process_stats\.process_count|swap\.|pod_swap_|container_swap_)/

async function startCompanion() {
  const directory = mkdtempSync('/tmp/keelson-companion-stats-')
  const stub = await startApiStub()
  const [port = 0] = await freePorts(1)
  writeFileSync(
    `${directory}/kubelet.yaml`,
    'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: cgroupfs\n',
  )
  const argv = [
    'companion',
    `--kubelet-config=${directory}/kubelet.yaml`,
    `--kubelet-url=${stub.url}`,
    `--state-dir=${directory}/state`,
    `--cert-dir=${directory}`,
    `--token-file=${directory}/token`,
    '--address=127.0.0.1',
    `--port=${port}`,
    '--healthz-port=0',
    `--runtime-endpoint=${endpoint()}`,
  ]
  const child = spawn(process.execPath, process.argv.slice(1), {
    env: { ...process.env, [roleVariable]: JSON.stringify(argv) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      output += data.toString()
    })
  for (const until = Date.now() + 60_000; !output.includes('companion started'); await sleep(100))
    assert.ok(Date.now() < until && child.exitCode === null, output)
  return {
    async page(path: string): Promise<string> {
      const token = readFileSync(`${directory}/token`, 'utf8').trim()
      const { status, body } = await ask({ port, path, token })
      assert.equal(status, 200, body)
      return body
    },
    async end(): Promise<void> {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      await stub.close()
    },
  }
}

export const commandChecks = (names: readonly string[]): readonly Check[] => [
  {
    name: 'keelson doctor series counts the series of the real pods',
    timeoutMs: 60_000,
    async run() {
      const { status, output } = await keelson('doctor', 'series', '-o', 'json', '--pods', '110')
      assert.equal(status, 0, output)
      const count = JSON.parse(output) as {
        readonly pods: number
        readonly containers: number
        readonly shown: number
        readonly projections: readonly { readonly pods: number; readonly series: number }[]
      }
      assert.deepEqual([count.pods, count.containers], [names.length, names.length])
      const [now, projected] = count.projections
      assert.equal(now?.series, count.shown)
      assert.ok((projected?.series ?? 0) > (50 * count.shown) / 2)
      return { shown: count.shown, projected: projected?.series }
    },
  },
  {
    name: 'keelson doctor parity: both sources agree on real pods, except for what this runtime leaves out',
    timeoutMs: 90_000,
    async run() {
      const { output } = await keelson('doctor', 'parity', '-o', 'json')
      const report = JSON.parse(output) as Parity
      // containerd 1.6 has no metrics RPCs.
      assert.deepEqual(
        report.notCompared.map((n) => n.endpoint),
        ['/metrics/cadvisor'],
      )
      const unknown = report.families.filter((f) => f.result !== 'same' && !knownDifferences.test(f.name))
      assert.deepEqual(unknown, [])
      const compared = (name: string) => report.families.find((f) => f.name === name)?.compared
      assert.equal(compared('container_cpu_usage_seconds_total'), names.length)
      assert.equal(compared('container_memory_working_set_bytes'), names.length)
      assert.equal(compared('cpu.usageCoreNanoSeconds'), 2 * names.length)
      const different = report.families
        .filter((f) => f.result !== 'same')
        .map((f) => `${f.name}: ${f.result}`)
      return { families: report.families.length, different }
    },
  },
  {
    name: 'keelson companion serves the three endpoints, with the names that the runtime knows',
    timeoutMs: 120_000,
    async run() {
      const companion = await startCompanion()
      try {
        const cadvisor = readExposition(await companion.page('/metrics/cadvisor'))
        const resource = readExposition(await companion.page('/metrics/resource'))
        const { pods } = JSON.parse(await companion.page('/stats/summary')) as {
          readonly pods: readonly { readonly podRef: { readonly name: string } }[]
        }
        const of = (
          all: readonly { name: string; labels: Readonly<Record<string, string>> }[],
          name: string,
        ) => all.filter((s) => s.name === name && s.labels.container === 'main').map((s) => s.labels.pod)
        assert.deepEqual(of(cadvisor, 'container_memory_working_set_bytes').sort(), names)
        assert.deepEqual(of(resource, 'container_cpu_usage_seconds_total').sort(), names)
        assert.deepEqual(pods.map((p) => p.podRef.name).sort(), names)
        const own = await companion.page('/metrics')
        assert.match(own, /keelson_stats_source\{endpoint="metrics",source="cgroup"\} 1/)
        return { series: cadvisor.length }
      } finally {
        await companion.end()
      }
    },
  },
]

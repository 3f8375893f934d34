// The CRI server's Prometheus endpoint against its RPC, and our kubelet on top of it: the address in /configz, the same
// families under /metrics/cadvisor.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import type { MetricDescriptor } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { defaultSettings } from '../../../src/serve/settings.js'
import { ask } from '../../serve/client.js'
import { type Check, NotHere } from '../../support/check.js'
import { freePorts } from '../../support/command.js'
import { readExposition } from '../../support/exposition.js'
import { type ScenarioServer, startScenarioServer } from './cri-server-start.js'
import { commandFromHere, LabKubelet } from './lab-kubelet.js'
import { connect, endpoint, MiB, type RunningPod, removePod, runPod } from './pod.js'

await commandFromHere()

/** Made inside the machine: names of checks are read outside, too. */
let kept: { readonly direct: CriClient; readonly kubelet: LabKubelet } | undefined
const here = () => {
  kept ??= { direct: connect(), kubelet: new LabKubelet() }
  return kept
}
let server: ScenarioServer | undefined
let port = 0
let pod: RunningPod | undefined

async function machine(): Promise<{ readonly server: ScenarioServer; readonly token: string }> {
  if (server === undefined) {
    ;[port = 0] = await freePorts(1)
    const dir = here().kubelet.directory
    server = await startScenarioServer(endpoint(), 'endpoint', {
      serve: {
        ...defaultSettings('cri', 'node-1'),
        address: '127.0.0.1',
        port,
        healthzPort: 0,
        certDirectory: dir,
        localTokenFile: join(dir, 'cri-token'),
      },
    })
  }
  return { server, token: readFileSync(join(here().kubelet.directory, 'cri-token'), 'utf8').trim() }
}

interface Flat {
  readonly key: string
  readonly value: string
  readonly timestamp: string
}
const keyOf = (name: string, labels: Readonly<Record<string, string | undefined>>): string =>
  `${name} ${JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))}`

async function fromRpc(client: CriClient, descriptors: readonly MetricDescriptor[]): Promise<Flat[]> {
  const { podMetrics } = await client.runtime.listPodSandboxMetrics({})
  const keys = new Map(descriptors.map((d) => [d.name, d.labelKeys]))
  return podMetrics
    .flatMap((p) => [...p.metrics, ...p.containerMetrics.flatMap((c) => c.metrics)])
    .map((m) => ({
      key: keyOf(
        m.name,
        Object.fromEntries((keys.get(m.name) ?? []).map((k, i) => [k, m.labelValues[i] ?? ''])),
      ),
      value: String(m.value?.value),
      timestamp: String(m.timestamp / 1_000_000n),
    }))
}

async function fromEndpoint(token: string): Promise<Flat[]> {
  const told = async () => await ask({ port, path: '/metrics/cadvisor', token })
  let { status, body } = await told()
  // A machine on a busy machine may stand still for seconds, and the endpoint then keeps its deadline.
  for (let i = 0; i < 3 && status >= 500; i++) ({ status, body } = await told())
  assert.equal(status, 200, body)
  // Without pods there are no families.
  return (body === '' ? [] : readExposition(body)).map((s) => ({
    key: keyOf(s.name, s.labels),
    value: s.value,
    timestamp: String(s.timestamp),
  }))
}

export const checks: readonly Check[] = [
  {
    name: 'nobody reads the endpoint without a token, and Status names its address',
    async run() {
      const { server: s } = await machine()
      assert.equal((await ask({ port, path: '/metrics/cadvisor' })).status, 401)
      const { info } = await s.client.runtime.status({ verbose: true })
      const { metricsUrl } = JSON.parse(info.keelson ?? '{}') as { metricsUrl?: string }
      assert.equal(metricsUrl, `https://127.0.0.1:${port}/metrics/cadvisor`)
    },
  },
  {
    name: 'endpoint and RPC agree in names, labels and values; only the endpoint has fractions',
    timeoutMs: 120_000,
    async run() {
      const { server: s, token } = await machine()
      pod = await runPod(s.client, {
        name: 'agree',
        cgroupParent: '/kubepods/burstable/podagree',
        resources: { cpuQuota: 50_000n, cpuPeriod: 100_000n, memoryLimitInBytes: BigInt(64 * MiB) },
      })
      const { descriptors } = await s.client.runtime.listMetricDescriptors({})
      for (let attempt = 0; ; attempt++) {
        // At once, so that both come from one look at the node.
        const [rpc, text] = await Promise.all([fromRpc(s.client, descriptors), fromEndpoint(token)])
        assert.deepEqual(text.map((t) => t.key).toSorted(), rpc.map((r) => r.key).toSorted())
        const times = new Map(rpc.map((r) => [r.key, r.timestamp]))
        if (text.some((t) => times.get(t.key) !== t.timestamp)) {
          assert.ok(attempt < 20)
          await sleep(1_000)
          continue
        }
        const values = new Map(rpc.map((r) => [r.key, r.value]))
        for (const { key, value } of text) assert.equal(value.split('.')[0], values.get(key), key)
        const fractions = text.filter((t) => t.value.includes('.')).map((t) => t.key.split(' ')[0])
        assert.ok(fractions.includes('container_cpu_usage_seconds_total'))
        return { series: text.length, withFractions: new Set(fractions).size, attempts: attempt + 1 }
      }
    },
  },
  {
    name: 'our kubelet finds the address, shows it, and serves the same series',
    timeoutMs: 180_000,
    async run() {
      // On the host its cgroups are those of everything else that runs there.
      if (readCgroupLayout().mode !== 'v2')
        return new NotHere('the kubelet of this scenario has a machine of its own')
      const { server: s, token } = await machine()
      const { kubelet, direct } = here()
      if (pod !== undefined) await removePod(direct, pod)
      const runtime = `unix://${s.running.socketPath}`
      const config = 'featureGates: {PodAndContainerStatsFromCRI: true}\ncgroupsPerQOS: true'
      await kubelet.start({ driver: 'cgroupfs', config, runtime })
      kubelet.putPod('shown', {
        containers: [
          {
            name: 'app',
            image: 'keelson.local/busybox:1',
            imagePullPolicy: 'Never',
            command: ['/bin/sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done'],
            resources: { limits: { memory: '64Mi', cpu: '500m' } },
          },
        ],
      })
      const { keelson } = JSON.parse(await kubelet.page('/configz')) as {
        keelson: { runtime: { metricsUrl: string | null } }
      }
      assert.equal(keelson.runtime.metricsUrl, `https://127.0.0.1:${port}/metrics/cadvisor`)
      const ofPod = (series: readonly Flat[]): string[] =>
        series
          .map((f) => f.key)
          .filter((key) => key.includes('"lab"'))
          .toSorted()
      let shown: string[] = []
      let own: string[] = []
      for (const end = Date.now() + 120_000; ; await sleep(2_000)) {
        const page = readExposition(await kubelet.page('/metrics/cadvisor'))
        shown = ofPod(page.map((x) => ({ key: keyOf(x.name, x.labels), value: x.value, timestamp: '' })))
        own = ofPod(await fromEndpoint(token))
        // A counter of a device appears with its first use.
        if (own.length > 100 && JSON.stringify(shown) === JSON.stringify(own)) break
        if (Date.now() > end) assert.deepEqual(shown, own)
      }
      const source = (JSON.parse(await kubelet.page('/configz')) as { keelson: { stats: unknown } }).keelson
        .stats
      kubelet.removePod('shown')
      for (const end = Date.now() + 60_000; Date.now() < end; await sleep(200))
        if ((await direct.runtime.listPodSandbox({ filter: { state: { state: 0 } } })).items.length === 0)
          break
      await kubelet.stop()
      return { series: shown.length, source }
    },
  },
  {
    name: 'everything is closed again',
    async run() {
      await here().kubelet.stop()
      await (await machine()).server.close()
      here().direct.close()
    },
  },
]

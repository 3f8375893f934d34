// The checks of the critest unit, in their order: critest twice, crictl's commands twice, and the metrics. They run inside
// a machine or on the host; the reports of the two runs are compared by whoever started them.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import type { DeepPartial, LinuxContainerResources, PodSandboxConfig } from '../../src/cri-api/api.js'
import type { CriClient } from '../../src/ports/runtime.js'
import type { Check } from '../../test/support/check.js'
import { runCommand } from '../process.js'
import { compareOutputs, type Printed, type Rule, readShownDriver } from './crictl-outputs.js'
import type { Ground } from './ground.js'
import { judgeMetrics } from './metrics-contract.js'
import { type CritestRun, runCritest } from './run-critest.js'

export interface ScenarioOptions {
  readonly prepare: () => Promise<Ground>
  /** Without it only crictl and the metrics are looked at. */
  readonly critest: Pick<CritestRun, 'binary' | 'focus' | 'attempts'> | undefined
  readonly crictl: string
  readonly out: string
  readonly tmp: string
  readonly critestTimeoutMs: number
  /** The kernel has all that critest excuses: pressure, huge pages. */
  readonly allMetrics: boolean
}

export const reportNames = ['direct', 'through'] as const
export type ReportName = (typeof reportNames)[number]

const image = 'registry.k8s.io/e2e-test-images/busybox:1.29-2'

interface Pod {
  readonly sandbox: string
  readonly container: string
}

/** One running container with the resources of critest's own metrics spec, and a line in its log. */
async function startPod(client: CriClient, out: string): Promise<Pod> {
  const logDirectory = join(out, 'pod-logs')
  mkdirSync(logDirectory, { recursive: true })
  const sandboxConfig: DeepPartial<PodSandboxConfig> = {
    metadata: { name: 'crictl', uid: 'crictl', namespace: 'default', attempt: 0 },
    hostname: 'crictl',
    logDirectory,
    linux: { cgroupParent: '/kubepods/burstable/podcrictl' },
  }
  const resources: DeepPartial<LinuxContainerResources> = {
    cpuPeriod: 100_000n,
    cpuQuota: 20_000n,
    cpuShares: 1024n,
    memoryLimitInBytes: 64n * 1024n * 1024n,
    memorySwapLimitInBytes: 64n * 1024n * 1024n,
  }
  const { podSandboxId: sandbox } = await client.runtime.runPodSandbox({ config: sandboxConfig })
  const { containerId: container } = await client.runtime.createContainer({
    podSandboxId: sandbox,
    sandboxConfig,
    config: {
      metadata: { name: 'main', attempt: 0 },
      image: { image },
      command: ['/bin/sh', '-c', 'echo begun; echo files > /tmp/file; sync; sleep 100000'],
      logPath: 'main.log',
      linux: { resources },
    },
  })
  await client.runtime.startContainer({ containerId: container })
  return { sandbox, container }
}

/** Each is run directly and through the server. */
const commands: readonly { readonly args: (pod: Pod) => readonly string[]; readonly rule: Rule }[] = [
  { args: () => ['version'], rule: 'text' },
  { args: () => ['info'], rule: 'info' },
  { args: () => ['pods', '-o', 'json'], rule: 'json' },
  { args: () => ['ps', '-a', '-o', 'json'], rule: 'json' },
  { args: () => ['images', '-o', 'json'], rule: 'json' },
  { args: (pod) => ['inspectp', pod.sandbox], rule: 'json' },
  { args: (pod) => ['inspect', pod.container], rule: 'json' },
  { args: () => ['inspecti', image], rule: 'json' },
  { args: (pod) => ['exec', pod.container, 'echo', 'hello'], rule: 'text' },
  { args: (pod) => ['exec', '-s', pod.container, 'cat', '/etc/hostname'], rule: 'text' },
  { args: (pod) => ['logs', pod.container], rule: 'text' },
  { args: (pod) => ['stats', '-o', 'json', pod.container], rule: 'values' },
  { args: () => ['statsp', '-o', 'json'], rule: 'values' },
  { args: () => ['imagefsinfo'], rule: 'values' },
]

export function scenario(options: ScenarioOptions): readonly Check[] {
  let ground: Ground | undefined
  let client: CriClient | undefined
  let pod: Pod | undefined
  const started = (): { ground: Ground; client: CriClient } => {
    if (ground === undefined || client === undefined) throw new Error('nothing is up: see the first check')
    return { ground, client }
  }
  const running = (): Pod => {
    if (pod === undefined) throw new Error('there is no pod: see the check that starts it')
    return pod
  }
  const crictl = async (endpoint: string, args: readonly string[]): Promise<Printed> =>
    await runCommand(
      options.crictl,
      ['--config', '/dev/null', '--timeout', '60s', '-r', endpoint, '-i', endpoint, ...args],
      { timeoutMs: 120_000, accept: [0, 1] },
    )
  const critest = (name: ReportName, chosen: NonNullable<ScenarioOptions['critest']>): Check => ({
    name: `critest runs ${name === 'direct' ? 'against containerd directly' : 'through keelson cri'}`,
    timeoutMs: options.critestTimeoutMs + 120_000,
    async run() {
      const began = Date.now()
      await runCritest({
        ...chosen,
        endpoint: started().ground[name],
        out: options.out,
        name,
        tmp: options.tmp,
        timeoutMs: options.critestTimeoutMs,
      })
      return { seconds: Math.round((Date.now() - began) / 1000) }
    },
  })
  return [
    {
      name: 'containerd, the registry and keelson cri are up',
      timeoutMs: 600_000,
      async run() {
        ground = await options.prepare()
        client = createCriClient(ground.direct, { timeoutMs: 120_000 })
        const { runtimeName, runtimeVersion } = await client.runtime.version({})
        return { runtimeName, runtimeVersion }
      },
    },
    ...reportNames.flatMap((name) => (options.critest === undefined ? [] : [critest(name, options.critest)])),
    {
      name: 'crictl pulls an image through the server, and a pod of it runs',
      timeoutMs: 240_000,
      async run() {
        const pulled = await crictl(started().ground.through, ['pull', image])
        assert.equal(pulled.status, 0, pulled.stderr)
        pod = await startPod(started().client, options.out)
      },
    },
    ...commands.map(({ args, rule }): Check => {
      const name = args({ sandbox: 'POD', container: 'CONTAINER' }).join(' ')
      return {
        name: `crictl ${name}: ${rule === 'text' ? 'the same text' : rule === 'values' ? 'no field is lost' : 'the same document'}`,
        timeoutMs: 180_000,
        async run() {
          const direct = await crictl(started().ground.direct, args(running()))
          const through = await crictl(started().ground.through, args(running()))
          assert.deepEqual(compareOutputs(rule, direct, through), [])
          return direct.status === 0 ? undefined : { directly: direct.stderr.trim().split('\n').at(-1) }
        },
      }
    }),
    {
      name: 'crictl info shows the cgroup driver and its evidence',
      timeoutMs: 120_000,
      async run() {
        const { status, stdout, stderr } = await crictl(started().ground.through, ['info'])
        assert.equal(status, 0, stderr)
        return readShownDriver(stdout)
      },
    },
    {
      name: "the runtime's metrics, as critest's specs for them want them",
      timeoutMs: 120_000,
      async run() {
        const through = createCriClient(started().ground.through, { timeoutMs: 60_000 })
        try {
          const { descriptors } = await through.runtime.listMetricDescriptors({})
          const { podMetrics } = await through.runtime.listPodSandboxMetrics({})
          const found = podMetrics.find((p) => p.podSandboxId === running().sandbox)
          assert.ok(found !== undefined, 'the pod has no metrics')
          const metrics = [...found.metrics, ...found.containerMetrics.flatMap((c) => c.metrics)]
          const { problems, absent } = judgeMetrics(descriptors, metrics)
          assert.deepEqual(problems, [])
          if (options.allMetrics) assert.deepEqual(absent, [])
          return { descriptors: descriptors.length, absentHere: absent }
        } finally {
          through.close()
        }
      },
    },
    {
      name: 'all of it goes again',
      timeoutMs: 120_000,
      async run() {
        if (pod !== undefined) {
          await started().client.runtime.stopPodSandbox({ podSandboxId: pod.sandbox })
          await started().client.runtime.removePodSandbox({ podSandboxId: pod.sandbox })
        }
        client?.close()
        await ground?.close()
      },
    },
  ]
}

// Beside one runtime: two pods, then the runtime's values between two readings of the kernel, through `keelson cri` with
// `--values trust` and with `--values repair`.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../src/adapters/cgroups/tree.js'
import { createClock } from '../../src/adapters/clock/clock.js'
import { createCriClient } from '../../src/adapters/cri/client/client.js'
import { createLog } from '../../src/adapters/log/log.js'
import { createProcfs } from '../../src/adapters/procfs/procfs.js'
import { createStatsFiles } from '../../src/adapters/stats-files/stats-files.js'
import { startCri } from '../../src/cli/cri/run-server.js'
import { compareValues, type FamilyParity, isEqual } from '../../src/doctor/metrics/parity.js'
import { readBoth } from '../../src/doctor/metrics/read-once.js'
import { podPaths, readMachine } from '../../src/kubelet/node/node-stats.js'
import { type PrivateContainerd, startPrivateContainerd } from '../../src/lab/containerd/start-containerd.js'
import { createProcessMetrics } from '../../src/serve/process-metrics.js'
import { defaultSettings } from '../../src/serve/settings.js'
import type { RuntimeName } from '../../src/stats/repair/defects.js'
import type { RepairedValue, ValuesMode } from '../../src/stats/repair/repairs.js'
import { MiB, podSandboxConfig } from '../../test/lab/inside/pod.js'
import type { Check } from '../../test/support/check.js'

const out = process.env.LAB_OUT ?? '/tmp'
const waitMs = 20_000

let containerd: PrivateContainerd | undefined
let runtime: RuntimeName | undefined

interface Compared {
  readonly families: readonly FamilyParity[]
  readonly notCompared: readonly string[]
  readonly repaired: readonly RepairedValue[]
}

async function startPod(endpoint: string, name: string, memoryLimit: number): Promise<void> {
  const client = createCriClient(endpoint, { timeoutMs: 60_000 })
  const config = await podSandboxConfig({ name, cgroupParent: `/kubepods/burstable/pod${name}` })
  const { podSandboxId } = await client.runtime.runPodSandbox({ config })
  const { containerId } = await client.runtime.createContainer({
    podSandboxId,
    sandboxConfig: config,
    config: {
      metadata: { name: 'main' },
      image: { image: 'keelson.local/busybox:1' },
      command: ['/bin/sh', '-c', 'i=0; while :; do i=$((i+1)); [ $((i % 2000)) = 0 ] && sleep 0.2; done'],
      logPath: 'main.log',
      labels: { 'io.kubernetes.container.name': 'main' },
      linux: memoryLimit === 0 ? {} : { resources: { memoryLimitInBytes: BigInt(memoryLimit) } },
    },
  })
  await client.runtime.startContainer({ containerId })
  client.close()
}

async function compareThrough(values: ValuesMode): Promise<Compared> {
  assert.ok(containerd !== undefined, 'see the first check')
  const running = await startCri(
    {
      runtimeEndpoint: containerd.endpoint,
      listen: `unix://${join(containerd.dir, `${values}.sock`)}`,
      mode: 'complete',
      values,
      cgroupDriver: undefined,
      serve: { ...defaultSettings('cri', 'node-1'), port: 0 },
      logFormat: 'text',
      isDebug: false,
    },
    createLog({ format: 'text', level: 'info', write: () => {} }),
  )
  const client = createCriClient(`unix://${running.socketPath}`, { timeoutMs: waitMs })
  const cgroups = createCgroupTree(readCgroupLayout())
  const procfs = createProcfs()
  const statsFiles = createStatsFiles()
  try {
    const both = await readBoth(
      {
        nodeName: 'node-1',
        client,
        cgroups,
        procfs,
        files: statsFiles,
        clock: createClock(),
        log: createLog({ format: 'text', level: 'error', write: () => {} }),
        openMetrics: () => createProcessMetrics({ processDefaults: false }),
        machine: await readMachine({ procfs, statsFiles }),
        ...podPaths('cgroupfs', '/'),
      },
      waitMs,
      new AbortController().signal,
    )
    const { families, notCompared } = compareValues(both, runtime)
    const { info } = await client.runtime.status({ verbose: true })
    return {
      families,
      notCompared: notCompared.map((n) => `${n.endpoint}: ${n.why}`),
      repaired: (JSON.parse(info.keelson ?? '{}') as { repaired?: readonly RepairedValue[] }).repaired ?? [],
    }
  } finally {
    client.close()
    cgroups.close()
    await running.close()
  }
}

const described = (f: FamilyParity): string => {
  const [one] = f.outside
  const example =
    one === undefined
      ? (f.onlyCgroup[0] ?? f.onlyRuntime[0] ?? 'type')
      : `${one.block} runtime ${one.runtime}, cgroup ${one.cgroup.join(' to ')}`
  return `${f.endpoint} ${f.name} [${f.defects.join(' or ')}]: ${example}`
}

export const checks: readonly Check[] = [
  {
    name: 'two pods run, one with a memory limit',
    timeoutMs: 120_000,
    async run() {
      containerd = await startPrivateContainerd({
        archives: [join(out, 'images.tar')],
        log: join(out, 'containerd.log'),
      })
      const client = createCriClient(containerd.endpoint, { timeoutMs: 60_000 })
      const { runtimeName, runtimeVersion } = await client.runtime.version({})
      client.close()
      runtime = { name: runtimeName.toLowerCase(), version: runtimeVersion }
      await startPod(containerd.endpoint, 'limited', 64 * MiB)
      await startPod(containerd.endpoint, 'unlimited', 0)
      // Until the runtime has measured the writable layers.
      await sleep(12_000)
      return runtime
    },
  },
  {
    name: 'trust: every difference from the kernel has a name',
    timeoutMs: 180_000,
    async run() {
      const { families, notCompared, repaired } = await compareThrough('trust')
      const different = families.filter((f) => !isEqual(f))
      assert.deepEqual(
        different.filter((f) => f.defects.length === 0).map(described),
        [],
        'differences without a name',
      )
      assert.deepEqual(repaired, {}, 'nothing is repaired')
      return { compared: families.length, notCompared, named: different.map(described) }
    },
  },
  {
    name: 'repair: no difference from the kernel',
    timeoutMs: 180_000,
    async run() {
      const { families, notCompared, repaired } = await compareThrough('repair')
      assert.deepEqual(families.filter((f) => !isEqual(f)).map(described), [])
      assert.ok(families.length > 50, `${families.length} families`)
      return { compared: families.length, notCompared, repaired }
    },
  },
  {
    name: 'everything is removed',
    timeoutMs: 60_000,
    async run() {
      await containerd?.close()
    },
  },
]

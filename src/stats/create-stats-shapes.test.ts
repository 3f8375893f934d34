// Pods that are not ordinary Linux processes: Windows (process-isolated and Hyper-V), and virtual machines on Linux.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { expectGolden } from '../../test/support/golden.js'
import { indentJson } from '../../test/support/indent-json.js'
import {
  createStatsFixture,
  hexId,
  noFiles,
  type StatsFixture,
  text,
} from '../../test/support/stats-fixture.js'
import { etcd, web } from '../../test/support/stats-pods.js'
import { createClock } from '../adapters/clock/clock.js'
import { createCriClient } from '../adapters/cri/client/client.js'
import { createProcfs } from '../adapters/procfs/procfs.js'
import { Container, ContainerState, ContainerStats, PodSandbox, PodSandboxStats } from '../cri-api/api.js'
import { type FakeRuntime, startFakeRuntime } from '../fakes/cri/fake-runtime.js'
import { vmHandler, vmPodStats, vmStatus, windowsPodStats } from '../fakes/cri/shapes.js'
import { FakeLog } from '../fakes/log.js'
import { createProcessMetrics } from '../serve/process-metrics.js'
import { createCpuHistory } from './cpu-rate.js'
import { createStats, type Stats } from './create-stats.js'
import { writeResourceMetrics } from './render/resource-metrics.js'
import { writeSummary } from './render/summary.js'
import { buildInventory } from './runtime/inventory.js'
import { criStatsSample } from './runtime/stats.js'
import type { NodeSample } from './sample.js'
import { noUsage } from './sum-usage.js'

const goldens = join(import.meta.dirname, '../../test/golden')
const now = 1_790_000_000_000_000_000n

const node: NodeSample = {
  timeNanos: now,
  startTimeNanos: now,
  usage: noUsage,
  network: undefined,
  rlimit: undefined,
  systemContainers: [],
}

describe('Windows', () => {
  const listed = (id: string, container: string, name: string, handler: string) => {
    const labels = { 'io.kubernetes.pod.name': name, 'io.kubernetes.pod.namespace': 'default' }
    return {
      sandbox: PodSandbox.fromPartial({
        id,
        metadata: { name, namespace: 'default', uid: `${name}-uid` },
        createdAt: now,
        labels,
        runtimeHandler: handler,
      }),
      container: Container.fromPartial({
        id: container,
        podSandboxId: id,
        metadata: { name: 'app' },
        state: ContainerState.CONTAINER_RUNNING,
        createdAt: now,
      }),
    }
  }

  test('process-isolated and Hyper-V pods', async () => {
    const process = listed(hexId('a', 1), hexId('c', 1), 'iis', 'runhcs-wcow-process')
    const hyperV = listed(hexId('a', 9), hexId('c', 9), 'isolated', 'runhcs-wcow-hypervisor')
    const first = PodSandboxStats.fromPartial(windowsPodStats('iis', now))
    // A utility VM has no values of its own network and no count of processes.
    const second = PodSandboxStats.fromPartial({
      ...windowsPodStats('isolated', now),
      attributes: { id: hexId('a', 9) },
    })
    if (second.windows === undefined) throw new Error('no windows part')
    second.windows.network = undefined
    second.windows.process = undefined
    for (const c of second.windows.containers) c.attributes = { ...c.attributes, id: hexId('c', 9) } as never
    const inventory = buildInventory(
      [process.sandbox, hyperV.sandbox],
      [process.container, hyperV.container],
      now,
    )
    const sample = criStatsSample([first, second], inventory, createCpuHistory(), now)
    expect(sample.missing).toBe(0)
    const summary = await writeSummary(
      {
        nodeName: 'win1',
        node,
        filesystems: { node: undefined, image: undefined, container: undefined },
        pods: sample.pods,
        podFilesystems: {
          rootfs: (c) =>
            c.writableLayer && {
              ...c.writableLayer,
              availableBytes: undefined,
              capacityBytes: undefined,
              inodes: undefined,
              inodesFree: undefined,
            },
          logs: () => undefined,
          otherParts: () => [],
          volumes: () => [],
        },
      },
      true,
    )
    expectGolden('stats/windows-summary.json', indentJson(text(summary)))
    const resource = await writeResourceMetrics({ node, pods: sample.pods, failed: false })
    expectGolden('stats/windows-resource.txt', text(resource))
  })

  describe('over a socket, without cgroups: the runtime is the only source', () => {
    const { sandbox, container } = listed(hexId('a', 1), hexId('c', 1), 'iis', 'runhcs-wcow-process')
    const windowsRuntime = () =>
      startFakeRuntime({
        ListPodSandbox: { value: { items: [sandbox] } },
        ListContainers: { value: { containers: [container] } },
        ListPodSandboxStats: { value: { stats: [PodSandboxStats.fromPartial(windowsPodStats('iis', now))] } },
      })

    async function withStats(
      use: (stats: Stats, runtime: FakeRuntime) => Promise<void>,
      periodMs = 10_000,
    ): Promise<void> {
      const runtime = await windowsRuntime()
      const client = createCriClient(runtime.endpoint)
      const stats = createStats({
        nodeName: 'win1',
        client,
        procfs: createProcfs({ proc: '/nonexistent', sys: '/nonexistent' }),
        files: noFiles,
        clock: createClock(),
        log: new FakeLog(),
        metrics: await createProcessMetrics({ processDefaults: false }),
        fromCri: true,
        periodMs,
      })
      const stop = new AbortController()
      const running = stats.run(stop.signal)
      try {
        await use(stats, runtime)
      } finally {
        stop.abort(new Error('over'))
        await running
        client.close()
        await runtime.close()
      }
    }

    test('/stats/summary answers instead of 500, with the pods, their sum, and nothing made up for the machine', () =>
      withStats(async (stats) => {
        const full = text(await stats.summary(true, 5_000))
        expectGolden('stats/windows-node-summary.json', indentJson(full))
        const { node: shown, pods } = JSON.parse(text(await stats.summary(false, 0))) as Record<
          string,
          object
        >
        expect(Object.keys(shown ?? {})).toEqual(['nodeName', 'systemContainers', 'startTime'])
        expect(pods).toHaveLength(1)
      }))

    test('/metrics/resource is no scrape error, and has no node row with a 0', () =>
      withStats(async (stats) => {
        const lines = text(await stats.resource(5_000)).split('\n')
        const golden = readFileSync(join(goldens, 'stats/windows-resource.txt'), 'utf8').split('\n')
        const ofPod = (all: string[]) => all.filter((l) => l.includes('pod="iis"'))
        expect(ofPod(lines)).toEqual(ofPod(golden))
        expect(ofPod(lines).length).toBeGreaterThan(3)
        expect(lines).toContain('resource_scrape_error 0')
        expect(lines.filter((l) => l.startsWith('node_'))).toEqual([])
        expect(stats.describe().stats).toEqual({ source: 'cri', runtime: 'in-use' })
      }))

    test('dropped packets are shown, though the runtime has no metrics calls', () =>
      withStats(async (stats) => {
        expectGolden('stats/windows-cadvisor.txt', text(await stats.cadvisor(5_000)))
        expect(stats.describe().metrics.source).toBe('cri')
      }))

    test('a runtime that is gone is a scrape error and a 500, not an old answer without a word', () =>
      withStats(async (stats, runtime) => {
        await stats.resource(5_000)
        await runtime.close()
        await expect.poll(async () => text(await stats.resource(0))).toContain('resource_scrape_error 1')
        await expect(stats.summary(true, 0)).rejects.toThrow(
          `the runtime at ${runtime.socketPath} gives no stats now`,
        )
      }, 100))
  })
})

describe('virtual machines', () => {
  let fixture: StatsFixture
  afterEach(() => fixture.close())
  const vm = { ...etcd, sandboxId: hexId('a', 2), handler: vmHandler, name: 'vm-0', namespace: 'default' }
  const guest = { ...vm, containers: [{ ...vm.containers[0], id: hexId('c', 2), name: 'app', files: {} }] }

  test('gate on: the guest values of the runtime', async () => {
    fixture = await createStatsFixture({
      pods: [guest],
      stats: { fromCri: true },
      answers: {
        status: () => vmStatus,
        listPodSandboxStats: () => ({ stats: [PodSandboxStats.fromPartial(vmPodStats('vm-0', now))] }),
      },
    })
    await fixture.tick()
    expectGolden('stats/vm-summary.json', indentJson(text(await fixture.stats.summary(true, 0))))
    expectGolden('stats/vm-resource.txt', text(await fixture.stats.resource(0)))
    expectGolden('stats/vm-cadvisor.txt', text(await fixture.stats.cadvisor(0)))
  })

  test("gate off: no cgroup of the pod is read, the runtime's own numbers are shown", async () => {
    fixture = await createStatsFixture({
      pods: [web, { ...guest, containers: guest.containers.map((c) => ({ ...c, id: hexId('c', 7) })) }],
      answers: {
        status: () => vmStatus,
        listContainerStats: () => ({
          stats: [
            ContainerStats.fromPartial({
              attributes: { id: hexId('c', 7) },
              cpu: { timestamp: now, usageCoreNanoSeconds: { value: 9_000_000_000n } },
              memory: { timestamp: now, workingSetBytes: { value: 70_000_000n } },
            }),
          ],
        }),
      },
    })
    await fixture.tick(60_000)
    await fixture.tick()
    expect(fixture.reads.filter((read) => read.includes(guest.uid))).toEqual([])
    expect(text(await fixture.stats.resource(0))).toContain(
      'container_cpu_usage_seconds_total{container="app",namespace="default",pod="vm-0"} 9 1790000000000',
    )
  })
})

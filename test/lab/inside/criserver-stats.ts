// Stats and metrics through the CRI server, against what containerd says itself and against the kernel's files.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { type CgroupFsTree, createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { isKeelsonError } from '../../../src/core/errors.js'
import type { ContainerStats, PodSandboxStats } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import listed from '../../fixtures/cadvisor-metrics.json' with { type: 'json' }
import type { Check } from '../../support/check.js'
import { type ScenarioServer, startScenarioServer } from './cri-server-start.js'
import { connect, endpoint, MiB, type RunningPod, removePod, runPod } from './pod.js'

/** Made inside the machine: names of checks are read outside, too. */
let kept: { readonly tree: CgroupFsTree; readonly direct: CriClient } | undefined
const here = () => {
  kept ??= { tree: createCgroupTree(readCgroupLayout()), direct: connect() }
  return kept
}
const parent = '/kubepods/burstable/podvalues'
let server: ScenarioServer | undefined
let pod: RunningPod | undefined

const machine = async () => {
  server ??= await startScenarioServer(endpoint(), 'values')
  // As critest's container of metrics: quota, shares, limits of memory and of memory with swap.
  pod ??= await runPod(here().direct, {
    name: 'values',
    cgroupParent: parent,
    command: [
      '/bin/sh',
      '-c',
      'trap "exit 0" TERM; dd if=/dev/zero of=/tmp/x bs=1M count=2; sync; while :; do sleep 0.2 & wait $!; done',
    ],
    resources: {
      cpuQuota: 20_000n,
      cpuPeriod: 100_000n,
      cpuShares: 1024n,
      memoryLimitInBytes: BigInt(64 * MiB),
      memorySwapLimitInBytes: BigInt(64 * MiB),
    },
  })
  return { server, pod, client: server.client }
}

const one = async (from: CriClient, containerId: string): Promise<ContainerStats> => {
  const { stats } = await from.runtime.containerStats({ containerId })
  assert.ok(stats !== undefined)
  return stats
}
const onePod = async (from: CriClient, podSandboxId: string): Promise<PodSandboxStats> => {
  const { stats } = await from.runtime.podSandboxStats({ podSandboxId })
  assert.ok(stats !== undefined)
  return stats
}
const text = (path: string, file: string): string => new TextDecoder().decode(here().tree.read(path, file))
const lines = (path: string): number => text(path, 'cgroup.procs').trim().split('\n').filter(Boolean).length

/** Names that are set, as `cpu.usageNanoCores`. */
const setFields = (value: object, prefix = ''): string[] =>
  Object.entries(value).flatMap(([key, v]: [string, unknown]) => {
    if (v === undefined || key === '_unknownFields' || key === 'attributes') return []
    if (typeof v !== 'object' || v === null || Array.isArray(v) || 'value' in v) return [`${prefix}${key}`]
    return setFields(v, `${prefix}${key}.`)
  })

/** critest lets these be declared without a value: a container may never touch a disk. */
const blockIo = /^container_(blkio_device_usage|fs_(reads|writes)(_bytes)?)_total$/

export const checks: readonly Check[] = [
  {
    name: 'ContainerStats: every field that containerd gives stays, and the missing ones are filled',
    timeoutMs: 120_000,
    async run() {
      const { client, pod: p } = await machine()
      await one(client, p.containerId)
      await sleep(1500)
      const theirs = await one(here().direct, p.containerId)
      const ours = await one(client, p.containerId)
      const given = setFields(theirs)
      const completed = setFields(ours)
      assert.deepEqual(
        given.filter((name) => !completed.includes(name)),
        [],
        'nothing that was given is lost',
      )
      for (const name of [
        'cpu.usageNanoCores',
        'memory.rssBytes',
        'memory.pageFaults',
        'memory.availableBytes',
      ])
        assert.ok(completed.includes(name), name)
      assert.ok(
        completed.some((name) => name.startsWith('swap.')),
        'swap',
      )
      if (here().tree.read(`${parent}/${p.containerId}`, 'cpu.pressure') !== undefined)
        assert.ok(completed.includes('cpu.psi.Some.Total'))
      assert.ok((ours.cpu?.usageNanoCores?.value ?? 0n) > 0n)
      assert.ok((ours.cpu?.usageNanoCores?.value ?? 0n) < 500_000_000n, 'a quota of a fifth of a core')
      assert.equal(ours.writableLayer?.fsId?.mountpoint, theirs.writableLayer?.fsId?.mountpoint)
      return { added: completed.filter((name) => !given.includes(name)) }
    },
  },
  {
    name: 'PodSandboxStats: pod values, processes and interfaces as CRI wants them',
    async run() {
      const { client, pod: p } = await machine()
      const theirs = await onePod(here().direct, p.sandboxId).catch((e: unknown) => e)
      const ours = await onePod(client, p.sandboxId)
      const { linux } = ours
      assert.ok(linux !== undefined)
      assert.equal(linux.containers.length, 1)
      assert.equal(linux.containers[0]?.attributes?.id, p.containerId)
      assert.equal(ours.attributes?.metadata?.name, 'values')
      const processes = lines(`${parent}/${p.sandboxId}`) + lines(`${parent}/${p.containerId}`)
      assert.ok(Math.abs(Number(linux.process?.processCount?.value) - processes) <= 2)
      assert.ok((linux.memory?.workingSetBytes?.value ?? 0n) > 0n)
      assert.ok((linux.cpu?.usageCoreNanoSeconds?.value ?? 0n) > 0n)
      const names = linux.network?.interfaces.map((i) => i.name) ?? []
      assert.ok(!names.includes(linux.network?.defaultInterface?.name ?? 'lo'))
      const given = isKeelsonError(theirs) ? [] : setFields((theirs as PodSandboxStats).linux ?? {})
      const completed = setFields(linux)
      assert.deepEqual(
        given.filter((name) => !completed.includes(name) && name !== 'memory.availableBytes'),
        [],
      )
      return {
        directly: isKeelsonError(theirs) ? theirs.message : given,
        added: completed.filter((n) => !given.includes(n)),
      }
    },
  },
  {
    name: 'lists: the same values, filters, and streams over them',
    async run() {
      const { client, pod: p } = await machine()
      const { stats: pods } = await client.runtime.listPodSandboxStats({ filter: {} })
      assert.deepEqual(
        pods.map((s) => s.attributes?.id),
        [p.sandboxId],
      )
      assert.ok(pods[0]?.linux?.containers[0]?.writableLayer !== undefined)
      assert.deepEqual(
        (await client.runtime.listPodSandboxStats({ filter: { id: 'f'.repeat(64) } })).stats,
        [],
      )
      const { stats } = await client.runtime.listContainerStats({ filter: { podSandboxId: p.sandboxId } })
      assert.equal(stats[0]?.attributes?.id, p.containerId)
      assert.ok(stats[0]?.swap !== undefined)
      const streamed: string[] = []
      for await (const m of client.runtime.streamPodSandboxStats({}))
        streamed.push(...m.podSandboxStats.map((s) => s.attributes?.id ?? ''))
      assert.deepEqual(streamed, [p.sandboxId])
      const unknown = await client.runtime.podSandboxStats({ podSandboxId: '' }).catch((e: unknown) => e)
      assert.ok(isKeelsonError(unknown) && unknown.code !== 'runtime.unimplemented', 'the probe of a kubelet')
    },
  },
  {
    name: 'metrics: everything that is declared has a value with all its labels, and nothing else has one',
    async run() {
      const { client, pod: p } = await machine()
      const { descriptors } = await client.runtime.listMetricDescriptors({})
      const { podMetrics } = await client.runtime.listPodSandboxMetrics({})
      const ours = podMetrics.find((m) => m.podSandboxId === p.sandboxId)
      assert.ok(ours !== undefined)
      const metrics = [...ours.metrics, ...ours.containerMetrics.flatMap((c) => c.metrics)]
      const byName = new Map(descriptors.map((d) => [d.name, d]))
      for (const m of metrics) {
        const declared = byName.get(m.name)
        assert.ok(declared !== undefined, `${m.name} is declared`)
        assert.equal(m.labelValues.length, declared.labelKeys.length, m.name)
        assert.ok(m.value !== undefined)
      }
      assert.ok(descriptors.every((d) => d.help !== '' && d.labelKeys.length >= 6))
      const filled = new Set(metrics.map((m) => m.name))
      const hasNetwork = ours.metrics.some((m) => m.name === 'container_network_receive_bytes_total')
      const empty = descriptors
        .map((d) => d.name)
        .filter((name) => !filled.has(name) && !blockIo.test(name))
        .filter((name) => hasNetwork || !name.includes('_network_'))
      assert.deepEqual(empty, [])
      const required = listed.metrics.filter((m) => m.requiredByCritest).map((m) => m.name)
      const labels = metrics.find(
        (m) => m.name === 'container_memory_working_set_bytes' && m.labelValues[0] !== '',
      )
      assert.equal(labels?.labelValues[1], `${parent}/${p.containerId}`)
      return {
        declared: descriptors.length,
        notOnThisKernel: required.filter((name) => !byName.has(name)),
        hasNetwork,
      }
    },
  },
  {
    name: 'the pod is removed, and everything is closed',
    async run() {
      const { client, pod: p, server: s } = await machine()
      await removePod(client, p)
      assert.deepEqual((await client.runtime.listPodSandboxStats({ filter: {} })).stats, [])
      await s.close()
      here().direct.close()
      here().tree.close()
    },
  },
]

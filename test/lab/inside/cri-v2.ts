// containerd over our client on cgroup v2: `unified` values arrive in the kernel and are read back with our reader.
import assert from 'node:assert/strict'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { parseCountOrMax } from '../../../src/core/kernel-text/digits.js'
import type { Check } from '../../support/check.js'
import { before, client, podChecks, rejection, runningPod, serverCommand, state } from './cri-common.js'
import { cgroupOf, MiB, pidOf, runPod } from './pod.js'

const tree = createCgroupTree(readCgroupLayout())
const parent = process.env.LAB_CGROUP_PARENT ?? '/kubepods/burstable/podlab1'
let path = ''

const value = (file: string): bigint | 'max' | undefined => {
  const bytes = tree.read(path, file)
  return bytes === undefined ? undefined : parseCountOrMax(bytes)
}

const mib = (n: number): bigint => BigInt(n * MiB)

export const checks: readonly Check[] = [
  ...before,
  {
    name: 'RunPodSandbox, CreateContainer with unified memory.high and memory.min, StartContainer',
    async run() {
      state.pod = await runPod(client(), {
        name: 'v2',
        cgroupParent: parent,
        command: serverCommand,
        resources: {
          memoryLimitInBytes: mib(128),
          cpuShares: 512n,
          cpuPeriod: 100_000n,
          cpuQuota: 50_000n,
          unified: { 'memory.high': String(96 * MiB), 'memory.min': String(16 * MiB) },
        },
      })
      path = cgroupOf(await pidOf(client(), runningPod().containerId))
      assert.ok(path.startsWith(`${parent}/`), path)
    },
  },
  {
    name: 'the kernel holds memory.high, memory.min, memory.max and cpu.max of the request',
    run() {
      assert.equal(value('memory.high'), mib(96))
      assert.equal(value('memory.min'), mib(16))
      assert.equal(value('memory.max'), mib(128))
      assert.equal(
        Buffer.from(tree.read(path, 'cpu.max') ?? [])
          .toString()
          .trim(),
        '50000 100000',
      )
    },
  },
  {
    name: 'UpdateContainerResources changes them under the running container, kept descriptors see it',
    async run() {
      const { containerId } = runningPod()
      await client().runtime.updateContainerResources({
        containerId,
        linux: {
          memoryLimitInBytes: mib(160),
          unified: { 'memory.high': String(112 * MiB), 'memory.min': String(24 * MiB) },
        },
      })
      assert.equal(value('memory.high'), mib(112))
      assert.equal(value('memory.min'), mib(24))
      assert.equal(value('memory.max'), mib(160))
    },
  },
  {
    name: 'an update of unified alone leaves the other values; max takes memory.high back',
    async run() {
      const { containerId } = runningPod()
      await client().runtime.updateContainerResources({
        containerId,
        linux: { unified: { 'memory.high': 'max' } },
      })
      assert.equal(value('memory.high'), 'max')
      assert.equal(value('memory.min'), mib(24))
      assert.equal(value('memory.max'), mib(160))
    },
  },
  {
    name: 'a file that this kernel does not have is refused, the container goes on',
    async run() {
      const { containerId } = runningPod()
      const { code } = await rejection(
        client().runtime.updateContainerResources({
          containerId,
          linux: { unified: { 'memory.nonsense': '1' } },
        }),
      )
      assert.equal(code, 'runtime.failed')
      assert.ok(tree.exists(path))
    },
  },
  ...podChecks,
  {
    name: 'after the removal our reader finds the container cgroup gone',
    async run() {
      assert.equal(tree.read(path, 'memory.high'), undefined)
      assert.equal(tree.exists(path), false)
      tree.close()
    },
  },
]

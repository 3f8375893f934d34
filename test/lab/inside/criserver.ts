// The CRI server in front of real containerd: every RPC directly and through it, a pod's life through it, and unified values
// on a runtime made to drop them.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCgroupLayout } from '../../../src/adapters/cgroups/detect.js'
import { createCgroupTree } from '../../../src/adapters/cgroups/tree.js'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { createLog } from '../../../src/adapters/log/log.js'
import { type RunningCri, startCri } from '../../../src/cli/cri/run-server.js'
import { CgroupDriver, ContainerStatusRequest } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { defaultSettings } from '../../../src/serve/settings.js'
import { compareEveryRpc } from '../../criserver/compare.js'
import { frame, openSession, type RawAnswer, rawCall, statusIn } from '../../criserver/raw-client.js'
import { startStrippingFilter } from '../../criserver/strip-unified.js'
import { type Check, NotHere } from '../../support/check.js'
import { cgroupOf, createContainer, endpoint, MiB, pidOf, type RunningPod, removePod, runPod } from './pod.js'

const dir = mkdtempSync(join(tmpdir(), 'keelson-cri-lab-'))
const tree = createCgroupTree(readCgroupLayout())
const closers: (() => unknown)[] = [() => tree.close()]

async function startServer(runtimeEndpoint: string, name: string): Promise<RunningCri> {
  const lines: string[] = []
  const log = createLog({ format: 'text', level: 'info', write: (line) => lines.push(line) })
  const running = await startCri(
    {
      runtimeEndpoint,
      listen: `unix://${join(dir, `${name}.sock`)}`,
      mode: 'complete',
      values: 'repair',
      cgroupDriver: undefined,
      serve: { ...defaultSettings('cri', 'node-1'), port: 0 },
    },
    log,
  )
  closers.push(() => running.close())
  return running
}

let server: RunningCri | undefined
const listening = async (): Promise<RunningCri> => {
  server ??= await startServer(endpoint(), 'plain')
  return server
}
const connectTo = async (running: RunningCri): Promise<CriClient> => {
  const client = createCriClient(`unix://${running.socketPath}`, { timeoutMs: 60_000 })
  closers.push(() => client.close())
  return client
}

const parent = process.env.LAB_CGROUP_PARENT ?? '/kubepods/burstable/podcriserver'
const value = (path: string, file: string): string =>
  Buffer.from(tree.read(path, file) ?? [])
    .toString()
    .trim()
let pod: RunningPod | undefined

export const checks: readonly Check[] = [
  {
    name: 'a pod is made through the server',
    async run() {
      const client = await connectTo(await listening())
      pod = await runPod(client, { name: 'through', cgroupParent: parent })
      const { status } = await client.runtime.containerStatus({ containerId: pod.containerId })
      assert.equal(status?.state, 1)
    },
  },
  {
    name: 'RuntimeConfig: the driver of containerd 1.6, from its Status, confirmed by the running sandbox',
    async run() {
      const client = await connectTo(await listening())
      const { linux } = await client.runtime.runtimeConfig({})
      assert.equal(linux?.cgroupDriver, CgroupDriver.CGROUPFS)
      const { info } = await client.runtime.status({ verbose: true })
      const ours = JSON.parse(info.keelson ?? '{}') as {
        cgroupDriver?: string
        cgroupDriverEvidence?: string[]
      }
      assert.equal(ours.cgroupDriver, 'cgroupfs')
      assert.match((ours.cgroupDriverEvidence ?? []).join('; '), /1 running sandboxes under cgroupfs/)
      return ours
    },
  },
  {
    name: 'every RPC of CRI v1 directly and through the server: the same bytes where forwarded',
    timeoutMs: 240_000,
    async run() {
      assert.ok(pod !== undefined)
      const direct = await openSession(endpoint().replace('unix://', ''))
      const through = await openSession((await listening()).socketPath)
      const ids = { ...pod, image: 'keelson.local/busybox:1' }
      const compared = await compareEveryRpc(ids, direct, through)
      direct.destroy()
      through.destroy()
      const same = compared.filter((c) => c.outcome === 'same').length
      const ours = compared.filter((c) => c.outcome !== 'same')
      return {
        rows: compared.length,
        same,
        ours: ours.map((c) => `${c.rpc} ${c.note} ${c.directStatus ?? ''}->${c.throughStatus ?? ''}`),
      }
    },
  },
  {
    name: 'a status text too long for HTTP/2 of Node ends its own call, and the connection to containerd lives on',
    async run() {
      const session = await openSession((await listening()).socketPath)
      // containerd repeats the id in its refusal. No id has a z: a short one must not be the beginning of one.
      const refusalOf = (length: number): Promise<RawAnswer> => {
        const request = { containerId: 'z'.repeat(length), verbose: false }
        const body = frame(ContainerStatusRequest.encode(request).finish())
        return rawCall(session, '/runtime.v1.RuntimeService/ContainerStatus', body, { 'grpc-timeout': '30S' })
      }
      const [short, long, after] = [await refusalOf(40_000), await refusalOf(70_000), await refusalOf(1)]
      session.destroy()
      assert.deepEqual([statusIn(short), long.rstCode, statusIn(after)], ['5', 2, '5'])
    },
  },
  {
    name: 'the address that Exec gives answers the client',
    async run() {
      assert.ok(pod !== undefined)
      const client = await connectTo(await listening())
      const { url } = await client.runtime.exec({
        containerId: pod.containerId,
        cmd: ['/bin/true'],
        stdout: true,
      })
      const answer = await fetch(url, { method: 'POST' })
      assert.ok([400, 403, 426].includes(answer.status), `${url}: ${answer.status}`)
    },
  },
  {
    name: 'the pod is removed through the server',
    async run() {
      assert.ok(pod !== undefined)
      const client = await connectTo(await listening())
      await removePod(client, pod)
      assert.deepEqual((await client.runtime.listPodSandbox({ filter: { id: pod.sandboxId } })).items, [])
    },
  },
  {
    name: 'unified values reach the kernel after create, update and container restart, though the runtime gets none',
    timeoutMs: 120_000,
    async run() {
      if (tree.version !== 'v2') return new NotHere('cgroup v1 has no unified values')
      const filter = await startStrippingFilter(endpoint(), `unix://${join(dir, 'filter.sock')}`)
      closers.push(() => filter.close(0))
      const stripped = createCriClient(filter.endpoint)
      closers.push(() => stripped.close())
      const resources = {
        memoryLimitInBytes: BigInt(128 * MiB),
        unified: { 'memory.high': String(96 * MiB), 'memory.min': String(16 * MiB) },
      }
      const bare = await runPod(stripped, { name: 'bare', cgroupParent: `${parent}bare`, resources })
      const barePath = cgroupOf(await pidOf(stripped, bare.containerId))
      assert.equal(
        value(barePath, 'memory.high'),
        'max',
        'the filter strips: the runtime alone leaves the file',
      )
      await removePod(stripped, bare)

      const client = await connectTo(await startServer(filter.endpoint, 'behind-filter'))
      const options = { name: 'kept', cgroupParent: `${parent}kept`, resources }
      const kept = await runPod(client, options)
      const path = cgroupOf(await pidOf(client, kept.containerId))
      assert.equal(value(path, 'memory.high'), String(96 * MiB))
      assert.equal(value(path, 'memory.min'), String(16 * MiB))

      await client.runtime.updateContainerResources({
        containerId: kept.containerId,
        linux: { unified: { 'memory.high': String(112 * MiB) } },
      })
      assert.equal(value(path, 'memory.high'), String(112 * MiB))
      await client.runtime.updateContainerResources({
        containerId: kept.containerId,
        linux: { memoryLimitInBytes: BigInt(160 * MiB) },
      })
      assert.equal(value(path, 'memory.max'), String(160 * MiB))
      assert.equal(value(path, 'memory.high'), String(112 * MiB))
      assert.equal(value(path, 'memory.min'), String(16 * MiB))

      await client.runtime.stopContainer({ containerId: kept.containerId, timeout: 0n })
      await client.runtime.removeContainer({ containerId: kept.containerId })
      const again = await createContainer(client, kept.sandboxId, kept.config, options)
      await client.runtime.startContainer({ containerId: again })
      const newPath = cgroupOf(await pidOf(client, again))
      assert.notEqual(newPath, path)
      assert.equal(value(newPath, 'memory.high'), String(96 * MiB))
      assert.equal(value(newPath, 'memory.min'), String(16 * MiB))
      await removePod(client, kept)
    },
  },
  {
    name: 'UpdatePodSandboxResources writes the limits of the pod cgroup',
    async run() {
      const client = await connectTo(await listening())
      const at = `${parent}limits`
      const made = await runPod(client, { name: 'limits', cgroupParent: at })
      await client.runtime.updatePodSandboxResources({
        podSandboxId: made.sandboxId,
        resources: { memoryLimitInBytes: BigInt(256 * MiB), cpuQuota: 50_000n, cpuPeriod: 100_000n },
      })
      const limit = tree.version === 'v2' ? 'memory.max' : 'memory.limit_in_bytes'
      assert.equal(value(at, limit), String(256 * MiB))
      await removePod(client, made)
    },
  },
  {
    name: 'everything is closed again',
    async run() {
      for (const close of closers.splice(0).reverse()) await close()
    },
  },
]

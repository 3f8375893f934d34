// What containerd 1.6 answers through our client on any kernel; the pod's own checks are added by version of cgroups.
import assert from 'node:assert/strict'
import { connect as dial } from 'node:net'
import { isKeelsonError } from '../../../src/core/errors.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import type { Check } from '../../support/check.js'
import { connect, type RunningPod, removePod } from './pod.js'

let shared: CriClient | undefined
export const client = (): CriClient => {
  shared ??= connect()
  return shared
}

/** The pod that one check makes and the following ones look at. */
export const state: { pod?: RunningPod } = {}
export const runningPod = (): RunningPod => {
  if (state.pod === undefined) throw new Error('there is no pod: an earlier check failed')
  return state.pod
}

export async function rejection(action: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await action
  } catch (e) {
    if (isKeelsonError(e)) return { code: e.code, message: e.message }
    throw e
  }
  throw new assert.AssertionError({ message: 'the call succeeded and should not have' })
}

const takesConnections = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = dial({ host, port, timeout: 2000 })
    const end = (ok: boolean): void => {
      socket.destroy()
      resolve(ok)
    }
    socket
      .on('connect', () => end(true))
      .on('error', () => end(false))
      .on('timeout', () => end(false))
  })

export const serverCommand = [
  '/bin/sh',
  '-c',
  'trap "exit 0" TERM; (while :; do echo hello | nc -l -p 8080; done) & while :; do sleep 1 & wait $!; done',
] as const

export const before: readonly Check[] = [
  {
    name: 'Version: containerd, CRI v1',
    async run() {
      const version = await client().runtime.version({ version: 'v1' })
      assert.equal(version.runtimeName, 'containerd')
      assert.equal(version.runtimeApiVersion, 'v1')
      assert.match(version.runtimeVersion, /^v?\d+\.\d+/)
      return { runtimeVersion: version.runtimeVersion }
    },
  },
  {
    name: 'Status: runtime and network are ready',
    async run() {
      let unready: string[] = []
      for (const until = Date.now() + 30_000; Date.now() < until; ) {
        const { status, info } = await client().runtime.status({ verbose: true })
        unready = (status?.conditions ?? []).filter((c) => !c.status).map((c) => `${c.type}: ${c.message}`)
        assert.ok((info.config ?? '').includes('SystemdCgroup'))
        if (unready.length === 0) return
        await new Promise((r) => setTimeout(r, 200))
      }
      assert.deepEqual(unready, [])
    },
  },
  {
    name: 'RuntimeConfig: UNIMPLEMENTED in this containerd, as a typed error',
    async run() {
      const { code, message } = await rejection(client().runtime.runtimeConfig({}))
      assert.equal(code, 'runtime.unimplemented')
      assert.match(message, /RuntimeConfig/)
    },
  },
  {
    name: 'ListImages: the imported images are there',
    async run() {
      const { images } = await client().image.listImages({})
      const tags = images.flatMap((i) => i.repoTags).sort()
      for (const name of ['busybox', 'cache-reader', 'hog', 'pause'])
        assert.ok(tags.includes(`keelson.local/${name}:1`), tags.join(' '))
      assert.ok(images.every((i) => i.size > 0n))
    },
  },
]

export const podChecks: readonly Check[] = [
  {
    name: 'PodSandboxStatus: CNI gave the pod an address that answers',
    async run() {
      const { status } = await client().runtime.podSandboxStatus({ podSandboxId: runningPod().sandboxId })
      const ip = status?.network?.ip ?? ''
      assert.match(ip, /^10\.\d+\.\d+\.\d+$/)
      for (let i = 0; i < 120; i++) {
        if (await takesConnections(ip, 8080)) return { ip }
        await new Promise((r) => setTimeout(r, 250))
      }
      assert.fail(`nothing answers on ${ip}:8080`)
    },
  },
  {
    name: 'ExecSync: output, error output and status of a command inside',
    async run() {
      const answer = await client().runtime.execSync({
        containerId: runningPod().containerId,
        cmd: ['/bin/sh', '-c', 'echo out; echo err >&2; ip -4 addr show eth0 | grep -c inet; exit 3'],
        timeout: 20n,
      })
      assert.equal(Buffer.from(answer.stdout).toString(), 'out\n1\n')
      assert.equal(Buffer.from(answer.stderr).toString(), 'err\n')
      assert.equal(answer.exitCode, 3)
    },
  },
  {
    name: 'ContainerStats and ListPodSandboxStats: values of this container',
    async run() {
      const { containerId, sandboxId } = runningPod()
      const { stats } = await client().runtime.containerStats({ containerId })
      assert.equal(stats?.attributes?.id, containerId)
      assert.ok((stats?.cpu?.usageCoreNanoSeconds?.value ?? 0n) > 0n)
      assert.ok((stats?.memory?.workingSetBytes?.value ?? 0n) > 0n)
      const pods = await client().runtime.listPodSandboxStats({ filter: { id: sandboxId } })
      assert.deepEqual(
        pods.stats.map((p) => p.attributes?.id),
        [sandboxId],
      )
      return {
        cpuNanos: stats?.cpu?.usageCoreNanoSeconds?.value,
        workingSet: stats?.memory?.workingSetBytes?.value,
      }
    },
  },
  {
    name: 'StopContainer: the process answers SIGTERM, then RemoveContainer',
    async run() {
      const { containerId } = runningPod()
      const started = Date.now()
      await client().runtime.stopContainer({ containerId, timeout: 20n })
      assert.ok(Date.now() - started < 15_000, 'the grace period was waited for')
      const { status } = await client().runtime.containerStatus({ containerId })
      assert.equal(status?.exitCode, 0)
      assert.ok((status?.finishedAt ?? 0n) > (status?.startedAt ?? 0n))
      await client().runtime.removeContainer({ containerId })
      assert.equal(
        (await rejection(client().runtime.containerStatus({ containerId }))).code,
        'runtime.not-found',
      )
    },
  },
  {
    name: 'StopPodSandbox and RemovePodSandbox: nothing is listed any more',
    async run() {
      await removePod(client(), runningPod())
      assert.deepEqual((await client().runtime.listPodSandbox({})).items, [])
      assert.deepEqual((await client().runtime.listContainers({})).containers, [])
      client().close()
    },
  },
]

// Container events through the CRI server in front of containerd 1.6, which has none: containers start, end by themselves
// and are removed while others do the same; every event must come once, in order, and not before CRI agrees.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCriClient } from '../../../src/adapters/cri/client/client.js'
import { createLog } from '../../../src/adapters/log/log.js'
import { startCri } from '../../../src/cli/cri/run-server.js'
import { isKeelsonError } from '../../../src/core/errors.js'
import { ContainerEventType, ContainerState } from '../../../src/cri-api/api.js'
import type { CriClient } from '../../../src/ports/runtime.js'
import { defaultSettings } from '../../../src/serve/settings.js'
import type { Check } from '../../support/check.js'
import { createContainer, endpoint, podSandboxConfig, removePod } from './pod.js'

/** Containers in all, and pods that they are in. */
const count = Number(process.env.KEELSON_EVENT_CONTAINERS ?? '60')
const pods = 3

const startServer = () =>
  startCri(
    {
      runtimeEndpoint: endpoint(),
      listen: `unix://${join(mkdtempSync(join(tmpdir(), 'keelson-events-')), 'cri.sock')}`,
      mode: 'complete',
      values: 'repair',
      cgroupDriver: undefined,
      serve: { ...defaultSettings('cri', 'node-1'), port: 0 },
    },
    createLog({ format: 'text', level: 'info', write: () => {} }),
  )

const parent = process.env.LAB_CGROUP_PARENT ?? '/kubepods/burstable/podevents'

/** The runtime makes the parent of its sandboxes and leaves it; its processes are gone before the machine is cleaned. */
function removeParent(): void {
  for (const hierarchy of ['', ...readdirSync('/sys/fs/cgroup')])
    try {
      rmdirSync(join('/sys/fs/cgroup', hierarchy, parent))
    } catch {
      // not a hierarchy, or not in this one
    }
}

interface Seen {
  readonly id: string
  readonly type: ContainerEventType
  /** What CRI says when the event is here. Undefined: it is gone. */
  readonly state: ContainerState | undefined
  readonly lateMs: number | undefined
}
const seen: Seen[] = []

/** `direct` is asked beside the server. */
async function follow(client: CriClient, direct: CriClient, signal: AbortSignal): Promise<void> {
  const stream = client.runtime.getContainerEvents({}, { timeoutMs: Number.POSITIVE_INFINITY, signal })
  for await (const { containerId: id, containerEventType: type, containersStatuses } of stream) {
    const carried = containersStatuses.find((c) => c.id === id)
    const finished = Number((carried?.finishedAt ?? 0n) / 1_000_000n)
    const isStop = type === ContainerEventType.CONTAINER_STOPPED_EVENT
    const lateMs = isStop && finished > 0 ? Date.now() - finished : undefined
    const state = await direct.runtime.containerStatus({ containerId: id }).then(
      ({ status }) => status?.state,
      (e: unknown) => {
        if (isKeelsonError(e) && e.code === 'runtime.not-found') return undefined
        throw e
      },
    )
    seen.push({ id, type, state, lateMs })
  }
}

const typesOf = (id: string): ContainerEventType[] => seen.filter((e) => e.id === id).map((e) => e.type)
const has = (id: string, type: ContainerEventType): boolean =>
  seen.some((e) => e.id === id && e.type === type)

async function waitFor(what: string, isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !isDone(); i++) await new Promise((resolve) => setTimeout(resolve, 50))
  assert.ok(isDone(), what)
}

export const checks: readonly Check[] = [
  {
    name: `${count} containers start and end by themselves: every event once, in order, none before CRI agrees`,
    timeoutMs: 600_000,
    async run() {
      const running = await startServer()
      const client = createCriClient(`unix://${running.socketPath}`, { timeoutMs: 60_000 })
      const direct = createCriClient(endpoint(), { timeoutMs: 60_000 })
      const stop = new AbortController()
      const following = follow(client, direct, stop.signal).catch((e: unknown) => {
        if (!stop.signal.aborted) throw e
      })
      const ids: string[] = []
      const perPod = async (n: number): Promise<void> => {
        const options = {
          name: `events-${n}`,
          cgroupParent: parent,
          command: ['/bin/sh', '-c', `sleep 0.${n}; exit ${n}`],
        }
        const config = await podSandboxConfig(options)
        const { podSandboxId: sandboxId } = await client.runtime.runPodSandbox({ config })
        for (let i = 0; i < count / pods; i++) {
          const named = { ...config, metadata: { ...config.metadata } }
          const id = await createContainer(client, sandboxId, named, options)
          ids.push(id)
          await client.runtime.startContainer({ containerId: id })
          await waitFor(`the end of container ${i} of ${options.name}`, () =>
            has(id, ContainerEventType.CONTAINER_STOPPED_EVENT),
          )
          await client.runtime.removeContainer({ containerId: id })
        }
        await removePod(client, { sandboxId })
        await waitFor(`the end of ${options.name}`, () =>
          has(sandboxId, ContainerEventType.CONTAINER_DELETED_EVENT),
        )
      }
      await Promise.all(Array.from({ length: pods }, (_, n) => perPod(n + 1)))
      await waitFor('every removal', () =>
        ids.every((id) => has(id, ContainerEventType.CONTAINER_DELETED_EVENT)),
      )
      stop.abort()
      await following
      client.close()
      direct.close()
      await running.close()
      removeParent()
      for (const id of ids) assert.deepEqual(typesOf(id), [0, 1, 2, 3], id)
      // A later state may be there already; an earlier one would mean that the event was ahead.
      for (const { id, type, state } of seen) {
        if (!ids.includes(id) || state === undefined) continue
        if (type === ContainerEventType.CONTAINER_STARTED_EVENT)
          assert.notEqual(state, ContainerState.CONTAINER_CREATED, id)
        if (type === ContainerEventType.CONTAINER_STOPPED_EVENT)
          assert.equal(state, ContainerState.CONTAINER_EXITED, id)
        assert.notEqual(type, ContainerEventType.CONTAINER_DELETED_EVENT, `${id} is still there`)
      }
      const late = seen.flatMap((e) => e.lateMs ?? []).sort((a, b) => a - b)
      return { containers: ids.length, p50Ms: late[Math.floor(late.length / 2)], maxMs: late.at(-1) }
    },
  },
]

// The node's steps over fakes: order, what is shown, what is stopped, and what each failure says.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { requirePort } from '../../src/cli/up/facts.js'
import { takeLock } from '../../src/cli/up/lock.js'
import { removeSandboxes } from '../../src/cli/up/remove.js'
import { loadConfig } from '../../src/config/load.js'
import { readManifest } from '../../src/config/read-manifest.js'
import { parsePod } from '../../src/core/parse-pod.js'
import { applyPodDefaults } from '../../src/core/pod-defaults.js'
import type { PodJson } from '../../src/core/pod-document.js'
import { qosClassOf } from '../../src/core/qos-class.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { demoPods } from '../../src/up/demo-pods.js'
import { directoriesBelow, formatKubeletConfig } from '../../src/up/kubelet-config.js'
import { type NodePlan, podTable, startNode } from '../../src/up/node.js'
import type { Part, UpPorts } from '../../src/up/ports.js'
import { createProgress } from '../../src/up/progress.js'

const never = new AbortController().signal
const directories = directoriesBelow('/run/x')
const plan: NodePlan = {
  directories,
  settings: { ports: { kubelet: 10250, healthz: 10248 }, memoryQos: true },
  manifests: [{ file: 'web.yaml', text: 'pod' }],
  readyMs: 60_000,
}

const pod = (phase: PodJson['status']['phase'], waiting?: { reason: string; message?: string }): PodJson => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-node', namespace: 'default', uid: 'u', creationTimestamp: null },
  spec: {},
  status: {
    phase,
    conditions: [],
    startTime: '',
    qosClass: 'Burstable',
    containerStatuses: [
      {
        name: 'app',
        state: waiting === undefined ? {} : { waiting },
        lastState: {},
        ready: false,
        started: false,
        restartCount: 0,
        image: '',
        imageID: '',
        containerID: 'containerd://abc',
      },
    ],
  },
})

interface Bed {
  readonly ports: UpPorts
  readonly done: string[]
  readonly printed: () => string
  readonly progress: ReturnType<typeof createProgress>
  pods: readonly PodJson[]
  breakKubelet(why: string): void
}

function createBed(): Bed {
  const done: string[] = []
  let now = 0
  let text = ''
  let breakIt: (why: string) => void = () => {}
  const part = (name: string, ended: Promise<string>): Part => ({
    ended,
    stop: async () => void done.push(`stop ${name}`),
  })
  const progress = createProgress({ write: (t) => (text += t), startedMs: 0, nowMs: () => now })
  const bed: Bed = {
    done,
    progress,
    printed: () => text,
    pods: [pod('Pending')],
    breakKubelet: (why) => breakIt(why),
    ports: {
      write: async (path) => void done.push(`write ${path}`),
      clear: async (path) => {
        done.push(`clear ${path}`)
        bed.pods = []
      },
      startCri: async () => {
        done.push('start cri')
        return part('cri', new Promise(() => {}))
      },
      startKubelet: async (file) => {
        done.push(`start kubelet ${file}`)
        return part(
          'kubelet',
          new Promise((resolve) => {
            breakIt = resolve
          }),
        )
      },
      kubelet: async () => ({ pods: async () => bed.pods, loginLink: async () => undefined }),
      memory: (id) => (id === 'abc' ? { min: '32Mi', high: '89.6Mi', current: '66Mi' } : undefined),
      figures: () => undefined,
      sleep: async (ms) => {
        now += ms
        await new Promise((resolve) => setImmediate(resolve))
        if (now > 3000 && bed.pods[0]?.status.containerStatuses[0]?.state.waiting === undefined)
          bed.pods = bed.pods.map(() => pod('Running'))
      },
      nowMs: () => now,
    },
  }
  return bed
}

describe('a node', () => {
  test('comes up in order, shows its configuration, and goes in reverse', async () => {
    const bed = createBed()
    const node = await startNode(plan, bed.ports, bed.progress, never)
    expect(bed.printed()).toMatch(/MemoryQoS: true/)
    expect(bed.printed()).toMatch(/\[ {2}3\.3 s\] pod +web-node runs \(Burstable\)/)
    await node.stop()
    expect(bed.done).toEqual([
      'start cri',
      'write /run/x/kubelet.yaml',
      'start kubelet /run/x/kubelet.yaml',
      'write /run/x/pods/web.yaml',
      'clear /run/x/pods',
      'stop kubelet',
      'stop cri',
    ])
  })

  test('pods that do not start end it with their reason, and everything is stopped', async () => {
    const bed = createBed()
    bed.pods = [pod('Pending', { reason: 'ErrImageNeverPull', message: 'no such image' })]
    await expect(startNode(plan, bed.ports, bed.progress, never)).rejects.toThrow(
      /0 of 1 pods run after 60 s: web-node\/app: ErrImageNeverPull no such image/,
    )
    expect(bed.done.slice(-2)).toEqual(['stop kubelet', 'stop cri'])
  })

  test('a process that ends by itself is told with the end of its log', async () => {
    const bed = createBed()
    const node = await startNode(plan, bed.ports, bed.progress, never)
    bed.breakKubelet('keelson kubelet ended (1); the end of its log: x')
    await expect(node.broken).rejects.toThrow(/keelson kubelet ended/)
  })

  test('the table shows the values of the kernel', async () => {
    const bed = createBed()
    const node = await startNode(plan, bed.ports, bed.progress, never)
    expect(await podTable(node.view, bed.ports)).toBe(
      'POD       CLASS      PHASE    memory.min  memory.high  memory.current\n' +
        'web-node  Burstable  Running  32Mi        89.6Mi       66Mi',
    )
  })
})

describe('what is run', () => {
  test('three demo pods, one of each class', () => {
    const classes = demoPods('/run/x/data').map(({ name, manifest }) => {
      const [document] = readManifest({ path: name, bytes: new TextEncoder().encode(manifest) })
      return [name, qosClassOf(applyPodDefaults(parsePod(document?.content)))]
    })
    expect(classes).toEqual([
      ['cache-reader', 'Guaranteed'],
      ['hog', 'Burstable'],
      ['best-effort', 'BestEffort'],
    ])
  })

  test('a configuration without problems or warnings, with both gates on', () => {
    const text = formatKubeletConfig(directories, plan.settings)
    const { config, problems, warnings } = loadConfig({
      kubelet: { path: 'kubelet.yaml', bytes: new TextEncoder().encode(text) },
    })
    expect([problems, warnings]).toEqual([[], []])
    expect(config.memoryQos).toMatchObject({ enabled: true, factor: 0.9, policy: 'HardReservation' })
    expect(config.gates.PodAndContainerStatsFromCRI?.enabled).toBe(true)
  })
})

test('pods of another kubelet on a runtime that stays are not removed, whatever their names', async () => {
  const removed: string[] = []
  const sandbox = (id: string, manifest: string) => ({
    id,
    metadata: { name: `${id}-node-1` },
    annotations: {
      'kubernetes.io/config.source': 'file',
      ...(manifest === '' ? {} : { 'keelson.dev/manifest': manifest }),
    },
  })
  const items = [
    sandbox('steady', '/run/node/pods/steady.yaml'),
    sandbox('steady', '/etc/kubernetes/manifests/steady.yaml'),
    sandbox('etcd', ''),
  ].map((s, i) => ({ ...s, id: `${s.id}${i}` }))
  const client = {
    runtime: {
      listPodSandbox: async () => ({ items }),
      stopPodSandbox: async () => ({}),
      removePodSandbox: async ({ podSandboxId }: { podSandboxId: string }) => {
        removed.push(podSandboxId)
        return {}
      },
    },
    close: () => undefined,
  }
  await removeSandboxes(client as unknown as CriClient, '/run/node/pods')
  expect(removed).toEqual(['steady0'])
})

describe('alone on the machine', () => {
  let base: string
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'keelson-up-test-'))
  })
  afterEach(() => rm(base, { recursive: true, force: true }))

  test('a second one is told of the first', async () => {
    const dir = join(base, 'lock')
    const first = await takeLock(async () => {}, dir)
    await expect(takeLock(async () => {}, dir)).rejects.toThrow(
      new RegExp(`as process ${process.pid}; use it`),
    )
    await first.release()
    await (await takeLock(async () => {}, dir)).release()
    await expect(stat(dir)).rejects.toThrow()
  })

  test('the remains of one that was killed are removed first', async () => {
    const dir = join(base, 'lock')
    await mkdir(dir)
    await writeFile(join(dir, 'owner'), `${process.pid} 1\n`)
    const cleaned: string[] = []
    const lock = await takeLock(async (d) => void cleaned.push(d), dir)
    expect(cleaned).toEqual([dir])
    await lock.release()
  })

  test('a port in use is one clear message', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(requirePort(port)).rejects.toThrow(new RegExp(`use port ${port}.*EADDRINUSE.*--port`))
    server.close()
  })
})

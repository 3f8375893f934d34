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
import { applyPodDefaults } from '../../src/core/pod/defaults.js'
import type { PodJson } from '../../src/core/pod/document.js'
import { parsePod } from '../../src/core/pod/parse-pod.js'
import { qosClassOf } from '../../src/core/pod/qos-class.js'
import type { CriClient } from '../../src/ports/runtime.js'
import { demoPods } from '../../src/up/demo-pods.js'
import { directoriesBelow, formatKubeletConfig } from '../../src/up/kubelet-config.js'
import { type NodePlan, podTable, startNode } from '../../src/up/node.js'
import { judgePod } from '../../src/up/pod-state.js'
import { createProgress } from '../../src/up/progress.js'
import type { Part, UpPorts } from '../../src/up/up-ports.js'

const never = new AbortController().signal
const directories = directoriesBelow('/run/x')
const plan: NodePlan = {
  directories,
  settings: { ports: { kubelet: 10250, healthz: 10248 }, memoryQos: true },
  manifests: [{ file: 'web.yaml', text: 'pod', pods: [{ namespace: 'default', name: 'web' }], problems: [] }],
  readyMs: 60_000,
  place: { network: false, images: ['keelson.local/busybox:1'], reported: false },
  url: 'https://127.0.0.1:10450',
  inside: true,
  logDir: '/logs',
}

const pod = (
  phase: PodJson['status']['phase'],
  waiting?: { reason: string; message?: string },
  container: object = {},
): PodJson => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-node', namespace: 'default', uid: 'u', creationTimestamp: null },
  spec: { nodeName: 'node', containers: [{ name: 'app', image: 'nginx:1.27', ...container }] },
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

interface Fixture {
  readonly ports: UpPorts
  readonly done: string[]
  readonly printed: () => string
  readonly progress: ReturnType<typeof createProgress>
  pods: readonly PodJson[]
  breakKubelet(why: string): void
}

function createFixture(): Fixture {
  const done: string[] = []
  let now = 0
  let text = ''
  let breakIt: (why: string) => void = () => {}
  const part = (name: string, ended: Promise<string>): Part => ({
    ended,
    stop: async () => void done.push(`stop ${name}`),
  })
  const progress = createProgress({ write: (t) => (text += t), startedMs: 0, nowMs: () => now })
  const fixture: Fixture = {
    done,
    progress,
    printed: () => text,
    pods: [pod('Pending')],
    breakKubelet: (why) => breakIt(why),
    ports: {
      write: async (path) => void done.push(`write ${path}`),
      clear: async (path) => {
        done.push(`clear ${path}`)
        fixture.pods = []
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
      kubelet: async () => ({ pods: async () => fixture.pods, loginLink: async () => undefined }),
      memory: (id) => (id === 'abc' ? { min: '32Mi', high: '89.6Mi', current: '66Mi' } : undefined),
      values: () => undefined,
      sleep: async (ms) => {
        now += ms
        await new Promise((resolve) => setImmediate(resolve))
        if (now > 3000 && fixture.pods[0]?.status.containerStatuses[0]?.state.waiting === undefined)
          fixture.pods = fixture.pods.map(() => pod('Running'))
      },
      nowMs: () => now,
    },
  }
  return fixture
}

describe('a node', () => {
  test('comes up in order, shows its configuration, and goes in reverse', async () => {
    const fixture = createFixture()
    const node = await startNode(plan, fixture.ports, fixture.progress, never)
    expect(fixture.printed()).toMatch(/MemoryQoS: true/)
    expect(fixture.printed()).toMatch(/\[ {2}3\.3 s\] pod +web-node is running \(Burstable\)/)
    await node.stop()
    expect(fixture.done).toEqual([
      'start cri',
      'write /run/x/kubelet.yaml',
      'start kubelet /run/x/kubelet.yaml',
      'write /run/x/pods/web.yaml',
      'clear /run/x/pods',
      'stop kubelet',
      'stop cri',
    ])
  })

  test('an image that the lab does not have is told at once with its remedy, and the node stays', async () => {
    const fixture = createFixture()
    fixture.pods = [
      pod('Pending', { reason: 'ErrImagePull', message: 'dial tcp: lookup registry-1.docker.io' }),
    ]
    const node = await startNode(plan, fixture.ports, fixture.progress, never)
    expect(node.running).toBe(0)
    expect(node.troubles).toEqual([
      expect.stringMatching(/^web-node: image nginx:1\.27 is not available: the lab has no network/),
    ])
    expect(fixture.printed()).toMatch(/\[ {2}0\.0 s\] pod +web-node is not running: image nginx:1\.27/)
    expect(fixture.printed()).toMatch(/available: keelson\.local\/busybox:1 and the images of --image-tar/)
    expect(fixture.printed()).toMatch(/docker save nginx:1\.27 -o image\.tar/)
    expect(fixture.done).not.toContain('stop kubelet')
    await node.stop()
  })

  test('a refused manifest does not keep the node from being ready, nor the other pods from running', async () => {
    const fixture = createFixture()
    const bad = { file: 'bad.yaml', text: 'x', pods: [], problems: ['bad.yaml:3: spec.foo: unknown'] }
    const began = fixture.ports.nowMs()
    const both = { ...plan, manifests: [...plan.manifests, bad] }
    const node = await startNode(both, fixture.ports, fixture.progress, never)
    expect(fixture.ports.nowMs() - began).toBeLessThan(5_000)
    expect(node).toMatchObject({ running: 1, troubles: ['bad.yaml: refused by the kubelet; see above'] })
    expect(fixture.done).not.toContain('stop kubelet')
    await node.stop()
  })

  test('a pod that never comes does not end the node either; the log that says why is named', async () => {
    const fixture = createFixture()
    fixture.pods = []
    const node = await startNode(plan, fixture.ports, fixture.progress, never)
    expect(node.troubles).toEqual(['web: the kubelet has not accepted it'])
    expect(fixture.printed()).toMatch(/see its log: \/logs\/kubelet\.log/)
    await node.stop()
  })

  test('in the lab the printed address is the one outside, and paths are said to be inside', async () => {
    const fixture = createFixture()
    const node = await startNode(plan, fixture.ports, fixture.progress, never)
    expect(fixture.printed()).toMatch(
      /healthy, https:\/\/127\.0\.0\.1:10450 \(port 10250 inside the machine\)/,
    )
    expect(fixture.printed()).toMatch(/unix:\/\/\/run\/x\/cri\.sock \(inside the machine\)/)
    expect(fixture.printed()).toMatch(/\/run\/x\/kubelet\.yaml \(inside the machine\)/)
    await node.stop()
  })

  test('a process that ends by itself is told with the end of its log', async () => {
    const fixture = createFixture()
    const node = await startNode(plan, fixture.ports, fixture.progress, never)
    fixture.breakKubelet('keelson kubelet ended (1); the end of its log: x')
    await expect(node.broken).rejects.toThrow(/keelson kubelet ended/)
  })

  test('the table shows the values of the kernel', async () => {
    const fixture = createFixture()
    const node = await startNode(plan, fixture.ports, fixture.progress, never)
    expect(await podTable(node.view, fixture.ports)).toBe(
      'POD       CLASS      PHASE    memory.min  memory.high  memory.current\n' +
        'web-node  Burstable  Running  32Mi        89.6Mi       66Mi',
    )
  })
})

describe('a pod is judged', () => {
  const lab = { network: false, images: ['a'], reported: false }
  const host = { network: true, images: ['a'], reported: false }
  const waiting = (reason: string, message = 'm') => pod('Pending', { reason, message })
  for (const { name, given, place, kind, what, remedy } of [
    { name: 'on its way', given: waiting('ContainerCreating'), place: lab, kind: 'starting' },
    { name: 'running', given: pod('Running'), place: lab, kind: 'running' },
    { name: 'done', given: pod('Succeeded'), place: lab, kind: 'running' },
    { name: 'failed', given: pod('Failed'), place: lab, kind: 'trouble', what: /^failed/ },
    {
      name: 'crashing though its phase is Running',
      given: pod('Running', { reason: 'CrashLoopBackOff', message: 'back-off' }),
      place: lab,
      kind: 'trouble',
      what: /^container app: CrashLoopBackOff: back-off$/,
    },
    {
      name: 'pulled on a host: the reason of the runtime',
      given: waiting('ErrImagePull', 'no such host'),
      place: host,
      kind: 'trouble',
      what: /^image nginx:1\.27 is not available: no such host$/,
      remedy: /keeps retrying/,
    },
    {
      name: 'in the lab, told before the start: not at length again',
      given: waiting('ErrImagePull'),
      place: { ...lab, reported: true },
      kind: 'trouble',
      what: /^image nginx:1\.27 is not available; see above$/,
    },
    {
      name: 'never pulled',
      given: waiting('ErrImageNeverPull'),
      place: host,
      kind: 'trouble',
      what: /imagePullPolicy is Never and it is not loaded/,
    },
    {
      name: 'in the lab with a policy that pulls a loaded image, too',
      given: pod('Pending', { reason: 'ImagePullBackOff' }, { imagePullPolicy: 'Always' }),
      place: lab,
      kind: 'trouble',
      what: /no network/,
      remedy: /imagePullPolicy is Always.*set IfNotPresent/,
    },
  ])
    test(name, () => {
      const state = judgePod(given, place)
      expect(state.kind).toBe(kind)
      if (state.kind !== 'trouble') return
      expect(state.what).toMatch(what ?? /^$/)
      if (remedy !== undefined) expect(state.remedy.join('\n')).toMatch(remedy)
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

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { container, image, observed, readySandbox, specOf } from '../../../../test/support/pod-manifest.js'
import { createPodHost } from '../../../adapters/pods/pod-host.js'
import { FakeLog } from '../../../fakes/log.js'
import { containerHash } from '../decide/container-hash.js'
import { configHash, configSource, identifyStaticPod } from '../decide/static-pod.js'
import { adoptStaticPods } from './adopt-static-pods.js'
import type { StaticPod, StaticPods } from './static-source.js'

const uid = 'f'.repeat(32)
const sandbox = { ...readySandbox, createdAtNanos: 100n }
let rootDir = ''
afterEach(() => rm(rootDir, { recursive: true, force: true }))

interface Node {
  /** Of the kubelet that ran the pod before. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly hash?: string
  readonly directory?: string
  readonly record?: string
}

/** The uids of what is wanted, one list for each state of the manifests. */
async function uidsOf(states: readonly StaticPod[], node: Node = {}): Promise<readonly string[]> {
  rootDir = await mkdtemp(join(tmpdir(), 'keelson-adopt-'))
  await mkdir(join(rootDir, 'pods', node.directory ?? uid), { recursive: true })
  await mkdir(join(rootDir, 'keelson-pods'))
  if (node.record !== undefined) await writeFile(join(rootDir, 'keelson-pods', uid), node.record)
  const hash = node.hash ?? containerHash({ name: 'app', image })
  const shown = { ...observed([container({ name: 'app', hash })], [sandbox]), uid, name: 'web-n1' }
  async function* source(): AsyncGenerator<StaticPods> {
    for (const pod of states) yield { pods: new Map([[pod.spec.pod.uid, pod]]), broken: new Set() }
  }
  const pods = adoptStaticPods(source(), {
    view: { all: () => [shown], annotations: () => node.annotations ?? { [configSource]: 'file' } },
    host: createPodHost(),
    paths: { rootDir, podLogsDir: '/var/log/pods' },
    identity: { rootDir, nodeName: 'n1', staticPodPath: '/m', hasApi: true },
    log: new FakeLog(),
  })
  const found: string[] = []
  for await (const now of pods)
    for (const [key, { spec }] of now.pods) {
      expect(spec.pod.uid).toBe(key)
      expect(spec.pod.annotations.get(configHash)).toBe(key)
      found.push(key)
    }
  return found
}

const pod = (spec: Readonly<Record<string, unknown>> = {}, changedAtNanos = 50n): StaticPod => ({
  file: '/m/web.yaml',
  changedAtNanos,
  recreated: 0,
  spec: identifyStaticPod(specOf(spec), {
    file: '/m/web.yaml',
    nodeName: 'n1',
    seenAt: '2026-01-01T00:00:00Z',
    resize: 'Recreate',
    digest: (text) => Buffer.from(text).toString('hex').slice(-64).padStart(64, '0'),
  }),
})
const edited = pod({ priority: 5 })

test('a static pod of the kubelet before this one keeps its uid, until its manifest changes', async () => {
  expect(await uidsOf([pod(), pod(), edited])).toEqual([uid, uid, edited.spec.pod.uid])
  expect(await readFile(join(rootDir, 'keelson-pods', uid), 'utf8')).toBe(pod().spec.pod.uid)
})

for (const [name, given, node] of [
  ['a manifest that was changed since the pod was started', pod({}, 150n), {}],
  ['another image', pod(), { hash: 'abc' }],
  ['a pod that did not come from a file', pod(), { annotations: { [configSource]: 'api' } }],
  ['a pod of another root directory', pod(), { directory: 'other' }],
  [
    'a pod that is marked by another kubelet',
    pod(),
    { annotations: { [configSource]: 'file', 'keelson.dev/root-dir': '/elsewhere' } },
  ],
  ['a manifest that was changed since the pod was taken over', edited, { record: pod().spec.pod.uid }],
] as const)
  test(`is another pod: ${name}`, async () => {
    expect(await uidsOf([given], node)).toEqual([given.spec.pod.uid])
  })

test('taken over once, it is known again after a restart, whenever its file was written', async () => {
  const copied = pod({}, 150n)
  expect(await uidsOf([copied], { record: copied.spec.pod.uid })).toEqual([uid])
})

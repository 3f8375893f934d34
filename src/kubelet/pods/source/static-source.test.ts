import { createHash } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { manifest } from '../../../../test/support/pod-manifest.js'
import { FakeClock } from '../../../fakes/clock.js'
import { FakeFiles } from '../../../fakes/files.js'
import { FakeLog } from '../../../fakes/log.js'
import { type StaticPods, type StaticSourceOptions, watchStaticPods } from './static-source.js'

const directory = '/manifests'
let stop = new AbortController()
afterEach(() => {
  stop.abort()
  stop = new AbortController()
})

interface Source {
  readonly files: FakeFiles
  readonly log: FakeLog
  write(name: string, content: object | string): Promise<void>
  remove(name: string): Promise<void>
  /** What is wanted after the last change. */
  next(): Promise<StaticPods>
}

function watchSource(more: Partial<StaticSourceOptions> = {}): Source {
  const files = new FakeFiles()
  const log = new FakeLog()
  files.makeDirectory(directory)
  const pods = watchStaticPods({
    path: directory,
    nodeName: 'Node-1',
    rescanMs: 20_000,
    resize: 'Recreate',
    maxPods: 110,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    files,
    clock: new FakeClock(),
    log,
    signal: stop.signal,
    ...more,
  })
  return {
    files,
    log,
    write: (name, content) =>
      files.replace(`${directory}/${name}`, typeof content === 'string' ? content : JSON.stringify(content)),
    remove: (name) => files.remove(`${directory}/${name}`),
    async next() {
      const { value } = await pods.next()
      if (value === undefined) throw new Error('the source has ended')
      return value
    },
  }
}

const pod = (name: string, spec: Readonly<Record<string, unknown>> = {}) => manifest(spec, { name })
const names = ({ pods }: StaticPods): string[] => [...pods.values()].map(({ spec }) => spec.pod.name)
const uids = ({ pods }: StaticPods): string[] => [...pods.keys()]

test('an empty directory wants nothing, and says so', async () => {
  expect(names(await watchSource().next())).toEqual([])
})

test('names carry the node, in lower case; the uid stays as long as the content does', async () => {
  const source = watchSource()
  await source.write('a.yaml', pod('a'))
  const first = await source.next()
  expect(names(first)).toEqual(['a-node-1'])
  await source.write('a.yaml', `# a comment\n${JSON.stringify(pod('a'), undefined, 2)}`)
  expect(uids(await source.next())).toEqual(uids(first))
  await source.write('a.yaml', pod('a', { hostNetwork: true }))
  expect(uids(await source.next())).not.toEqual(uids(first))
})

test('a broken file beside good ones: the others carry on, and it is reported once with every problem', async () => {
  const source = watchSource()
  await source.write('a.yaml', pod('a'))
  await source.write('b.yaml', pod('b', { hostNetwrk: true, containers: [{ name: 'B' }] }))
  const wanted = await source.next()
  expect(names(wanted)).toEqual(['a-node-1'])
  expect([...wanted.broken]).toEqual([`${directory}/b.yaml`])
  await source.write('c.yaml', pod('c'))
  expect(names(await source.next())).toEqual(['a-node-1', 'c-node-1'])
  const [said, ...more] = source.log.lines.filter(({ level }) => level === 'error')
  expect(more).toEqual([])
  const text = String(said?.fields['error'])
  for (const part of ['b.yaml', 'hostNetwrk', 'did you mean hostNetwork?', 'containers[0].name', 'image'])
    expect(text).toContain(part)
})

test('a file that breaks keeps the pods that it had; mended, it has what it says', async () => {
  const source = watchSource()
  await source.write('a.yaml', pod('a'))
  const before = await source.next()
  for (const broken of ['{', '', 'kind: [', pod('a', { containers: [] })]) {
    await source.write('a.yaml', broken)
    const now = await source.next()
    expect(uids(now), JSON.stringify(broken)).toEqual(uids(before))
    expect(now.broken.size).toBe(1)
  }
  await source.write('a.yaml', pod('other'))
  expect(names(await source.next())).toEqual(['other-node-1'])
  await source.remove('a.yaml')
  expect(names(await source.next())).toEqual([])
})

for (const { name, document } of [
  { name: 'a kind with a typo', document: { ...pod('a'), kind: 'pod' } },
  { name: 'a kind without pods', document: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a' } } },
  {
    name: 'a workload',
    document: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: { template: pod('a') },
    },
  },
  { name: 'one of them in a list', document: { kind: 'List', items: [pod('b'), { kind: 'Service' }] } },
])
  test(`${name} is broken, and said to be no Pod`, async () => {
    const source = watchSource()
    await source.write('a.json', document)
    const wanted = await source.next()
    expect(names(wanted)).toEqual([])
    expect([...wanted.broken]).toEqual([`${directory}/a.json`])
    const [said] = source.log.lines.filter(({ level }) => level === 'error')
    expect(String(said?.fields['error'])).toMatch(/a\.json:1: .*is not a Pod; only pods run here/)
  })

test('hidden files are skipped and named once', async () => {
  const source = watchSource()
  await source.write('.a.yaml', pod('a'))
  expect(names(await source.next())).toEqual([])
  await source.write('.a.yaml', pod('b'))
  expect(names(await source.next())).toEqual([])
  expect(source.log.messages('info')).toEqual(['skipping a hidden file in staticPodPath'])
})

test('several documents, and a list', async () => {
  const source = watchSource()
  await source.write('many.yaml', `${JSON.stringify(pod('a'))}\n---\n${JSON.stringify(pod('b'))}\n`)
  await source.write('list.json', { apiVersion: 'v1', kind: 'List', items: [pod('c'), pod('d')] })
  expect(names(await source.next())).toEqual(['c-node-1', 'd-node-1', 'a-node-1', 'b-node-1'])
})

test('one name in two files: the first in name order has it, and the other follows when that goes', async () => {
  const source = watchSource()
  await source.write('b.yaml', pod('x', { hostname: 'b' }))
  await source.write('a.yaml', pod('x', { hostname: 'a' }))
  const wanted = await source.next()
  expect([...wanted.pods.values()].map(({ spec }) => spec.hostname)).toEqual(['a'])
  expect(source.log.messages('error')).toHaveLength(1)
  await source.remove('a.yaml')
  expect([...(await source.next()).pods.values()].map(({ spec }) => spec.hostname)).toEqual(['b'])
})

test('more than maxPods: the rest is skipped and said', async () => {
  const source = watchSource({ maxPods: 2 })
  for (const name of ['a', 'b', 'c']) await source.write(`${name}.yaml`, pod(name))
  expect(names(await source.next())).toEqual(['a-node-1', 'b-node-1'])
  expect(source.log.messages('error')).toEqual(['maxPods reached; skipping the pod'])
})

test('a path of one file takes that file and no neighbour', async () => {
  const source = watchSource({ path: `${directory}/a.yaml` })
  await source.write('b.yaml', pod('b'))
  await source.write('a.yaml', pod('a'))
  expect(names(await source.next())).toEqual(['a-node-1'])
})

test('a file that cannot be read is broken, not gone', async () => {
  const source = watchSource()
  await source.write('a.yaml', pod('a'))
  const before = await source.next()
  source.files.refuse(`${directory}/a.yaml`, 'permission denied')
  await source.write('b.yaml', pod('b'))
  expect(names(await source.next())).toEqual(['a-node-1', 'b-node-1'])
  source.files.refuse(`${directory}/a.yaml`, undefined)
  await source.write('a.yaml', pod('a'))
  expect(uids(await source.next())).toEqual(expect.arrayContaining(uids(before)))
})

test('InPlace: other cpu and memory is the same pod with other amounts', async () => {
  const sized = (memory: string) =>
    pod('a', { containers: [{ name: 'c', image: 'i', resources: { limits: { memory } } }] })
  for (const resize of ['InPlace', 'Recreate'] as const) {
    const source = watchSource({ resize })
    await source.write('a.yaml', sized('64Mi'))
    const before = await source.next()
    await source.write('a.yaml', sized('128Mi'))
    expect(uids(await source.next())[0] === uids(before)[0], resize).toBe(resize === 'InPlace')
  }
})

test('a refused manifest names the line of every problem, in every document', async () => {
  const source = watchSource()
  await source.write(
    'bad.yaml',
    `# a comment
apiVersion: v1
kind: Pod
metadata: { name: bad }
spec:
  foo: 1
  containers:
    - name: main
      image: i
      livenessProbe:
        httpGet: { port: 0 }
---
kind: Service
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    metadata: { name: ok }
    spec: { containers: [{ name: a, image: i }] }
  - apiVersion: v1
    kind: Pod
    metadata: { name: worse }
    spec:
      containers:
        - name: a
`,
  )
  expect([...(await source.next()).broken]).toEqual([`${directory}/bad.yaml`])
  const [said] = source.log.lines.filter(({ level }) => level === 'error')
  const lines = String(said?.fields['error']).split('\n')
  expect(lines).toEqual([
    expect.stringMatching(
      /^KeelsonError: read \/manifests\/bad\.yaml:6: spec\.foo: is not a field of a Pod here/,
    ),
    expect.stringMatching(
      /^\/manifests\/bad\.yaml:11: spec\.containers\[0\]\.livenessProbe\.httpGet\.port: is 0/,
    ),
    '/manifests/bad.yaml:13: Service is not a Pod; only pods run here',
    expect.stringMatching(/^\/manifests\/bad\.yaml:27: spec\.containers\[0\]\.image: is missing/),
  ])
})

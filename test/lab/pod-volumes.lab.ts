// Volumes of a pod on the real kernel, made of objects of a real API server with a node's own credential: what is missing is
// waited for, what changes reaches the files, and nothing is left of it.
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createClock } from '../../src/adapters/clock/clock.js'
import { openKubeApi } from '../../src/adapters/kubeapi/open.js'
import { createPodHost } from '../../src/adapters/pods/pod-host.js'
import { createVolumeHost } from '../../src/adapters/volumes/volume-host.js'
import type { KubePod } from '../../src/core/kube/objects.js'
import { parsePodSpec } from '../../src/core/pod/spec/parse.js'
import type { PodSpec } from '../../src/core/pod/spec/spec.js'
import { parseQuantity } from '../../src/core/units/quantity.js'
import { FakeLog } from '../../src/fakes/log.js'
import { createNodeObjects } from '../../src/kubelet/objects/node-objects.js'
import { createPodVolumes, type PodVolumes } from '../../src/kubelet/volumes/pod-volumes.js'
import type { KubeApi } from '../../src/ports/kube-api.js'
import { type RealControlPlane, startRealControlPlane } from '../support/real-control-plane.js'
import { requires } from '../support/requirements.js'

const nodeName = 'volumes-1'
const base = '/api/v1/namespaces/default'
const end = new AbortController()
const { signal } = end
const log = new FakeLog()
const clock = createClock()
const host = createPodHost()
const events: string[] = []
let plane: RealControlPlane
let api: KubeApi
let volumes: PodVolumes
let rootDir = ''

beforeAll(async () => {
  rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'keelson-pod-volumes-')))
  plane = await startRealControlPlane()
  const kubeconfig = await plane.issueNodeKubeconfig(nodeName)
  api = await openKubeApi({ kubeconfig, log, version: 'test' })
  await plane.client.create('/api/v1/nodes', { metadata: { name: nodeName } })
  const objects = createNodeObjects({ api, clock, log, syncMs: 60_000, signal })
  volumes = createPodVolumes({
    c: {
      host,
      volumeHost: createVolumeHost(),
      objects,
      paths: { rootDir, podLogsDir: join(rootDir, 'logs') },
      events: { pod: (_, { reason, message }) => void events.push(`${reason} ${message}`) },
      clock,
      log,
      allocatable: () => Promise.resolve(new Map([['memory', parseQuantity('1Gi')]])),
      nodeLabels: () => ({ 'kubernetes.io/hostname': nodeName }),
      podMemoryLimit: () => undefined,
    },
    syncMs: 60_000,
    signal,
  })
  const account = () => plane.client.getObject(`${base}/serviceaccounts/default`)
  await vi.waitUntil(async () => (await account()) !== undefined, { timeout: 60_000, interval: 200 })
})
afterAll(async () => {
  end.abort()
  api?.close()
  await plane?.close()
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
  for (const point of points.filter((p) => p.startsWith(`${rootDir}/`)).toReversed())
    execFileSync('umount', ['-l', point])
  rmSync(rootDir, { recursive: true, force: true })
})

async function createPod(name: string, spec: object): Promise<PodSpec> {
  const container = { name: 'app', image: 'x' }
  await plane.client.create(`${base}/pods`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName, containers: [container], ...spec },
  })
  const made = await plane.client.getObject<KubePod>(`${base}/pods/${name}`)
  const parsed = parsePodSpec({ ...made, apiVersion: 'v1', kind: 'Pod' }, 'api')
  if (parsed.kind === 'problems') throw new Error(JSON.stringify(parsed.problems))
  return { ...parsed.spec, pod: { ...parsed.spec.pod, uid: made?.metadata?.uid ?? '' } }
}

const mountedAt = (spec: PodSpec, name: string): string => {
  const found = volumes.mounted(spec.pod.uid).get(name)
  if (found === undefined || !('hostPath' in found)) throw new Error(`${name} is not mounted`)
  return found.hostPath
}
const mountedInTime = (spec: PodSpec): Promise<boolean> =>
  vi.waitUntil(
    () =>
      volumes.mount(spec, signal).then(
        () => true,
        () => false,
      ),
    { timeout: 30_000, interval: 500 },
  )

test('a missing config map is an event; it is mounted once it is there, and changes reach the file', async (ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  const spec = await createPod('waits', {
    securityContext: { fsGroup: 2000 },
    volumes: [
      { name: 'c', configMap: { name: 'late' } },
      { name: 'e', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
    ],
  })
  await expect
    .poll(() => volumes.mount(spec, signal).then(() => '', String), { timeout: 20_000 })
    .toContain('configmap "late" not found')
  expect(events).toContain('FailedMount MountVolume.SetUp failed for volume "c" : configmap "late" not found')
  await plane.client.create(`${base}/configmaps`, { metadata: { name: 'late' }, data: { key: 'one' } })
  await mountedInTime(spec)
  const file = join(mountedAt(spec, 'c'), 'key')
  expect(readFileSync(file, 'utf8')).toBe('one')
  expect(statSync(file).gid).toBe(2000)
  expect(statSync(mountedAt(spec, 'e')).mode & 0o2070).toBe(0o2070)
  const began = performance.now()
  await plane.client.patch(`${base}/configmaps/late`, { data: { key: 'two', more: 'x' } })
  await expect.poll(() => readFileSync(file, 'utf8'), { timeout: 90_000 }).toBe('two')
  console.log(`a change reached the file after ${Math.round(performance.now() - began)} ms`)
  await volumes.release(spec.pod.uid)
  await host.removeTree(join(rootDir, 'pods', spec.pod.uid))
  expect(existsSync(join(rootDir, 'pods', spec.pod.uid))).toBe(false)
})

test('the volume of every pod: a token that only the pod may use, the CA and the namespace', async (ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  await vi.waitUntil(
    async () => (await plane.client.getObject(`${base}/configmaps/kube-root-ca.crt`)) !== undefined,
    { timeout: 60_000, interval: 200 },
  )
  const spec = await createPod('default-volume', { securityContext: { runAsUser: 1234 } })
  const [volume] = spec.volumes
  expect(volume).toMatchObject({ kind: 'projected' })
  await mountedInTime(spec)
  const directory = mountedAt(spec, volume?.name ?? '')
  expect(readdirSync(directory).filter((name) => !name.startsWith('..'))).toEqual([
    'ca.crt',
    'namespace',
    'token',
  ])
  expect(readFileSync(join(directory, 'token'), 'utf8')).toMatch(/^ey/)
  const { mode, uid } = statSync(join(directory, 'token'))
  expect([mode & 0o777, uid]).toEqual([0o600, 1234])
  expect(execFileSync('stat', ['-f', '-c', '%T', directory], { encoding: 'utf8' }).trim()).toBe('tmpfs')
  await volumes.release(spec.pod.uid)
  await host.removeTree(join(rootDir, 'pods', spec.pod.uid))
})

test('a claim of a local volume is a mount; the files of the host stay', async (ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  const path = join(rootDir, 'disk')
  await host.ensureFile(join(path, 'kept'), 0o644)
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'Exists' }] }],
  }
  await plane.client.create('/api/v1/persistentvolumes', {
    metadata: { name: 'disk' },
    spec: { ...shared, capacity: { storage: '1Gi' }, local: { path }, nodeAffinity: { required } },
  })
  await plane.client.create(`${base}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: { ...shared, resources: { requests: { storage: '1Gi' } }, volumeName: 'disk' },
  })
  const spec = await createPod('claims', {
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }],
    automountServiceAccountToken: false,
  })
  await mountedInTime(spec)
  expect(mountedAt(spec, 'd')).toContain('kubernetes.io~local-volume/disk')
  expect(readdirSync(mountedAt(spec, 'd'))).toEqual(['kept'])
  await volumes.release(spec.pod.uid)
  await host.removeTree(join(rootDir, 'pods', spec.pod.uid))
  expect(readdirSync(path)).toEqual(['kept'])
})

test('a claim of a volume on the disk of another node is not mounted, though the path is here too', async () => {
  const path = join(rootDir, 'other-disk')
  await host.ensureFile(join(path, 'not-ours'), 0o644)
  const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' }
  const elsewhere = { key: 'kubernetes.io/hostname', operator: 'In', values: ['volumes-2'] }
  await plane.client.create('/api/v1/persistentvolumes', {
    metadata: { name: 'elsewhere' },
    spec: {
      ...shared,
      capacity: { storage: '1Gi' },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [elsewhere] }] } },
    },
  })
  await plane.client.create(`${base}/persistentvolumeclaims`, {
    metadata: { name: 'elsewhere' },
    spec: { ...shared, resources: { requests: { storage: '1Gi' } }, volumeName: 'elsewhere' },
  })
  const spec = await createPod('lost', {
    volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'elsewhere' } }],
    automountServiceAccountToken: false,
  })
  await expect
    .poll(() => volumes.mount(spec, signal).then(() => 'mounted', String), { timeout: 30_000 })
    .toContain('no matching NodeSelectorTerms')
  expect(events).toContain(
    'FailedMount MountVolume.NodeAffinity check failed for volume "elsewhere" : no matching NodeSelectorTerms',
  )
  await volumes.release(spec.pod.uid)
})

test('500 keys, a key of 253 characters, every byte: the files have exactly what the object has', async (ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  const long = 'k'.repeat(253)
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
  const data = Object.fromEntries(Array.from({ length: 498 }, (_, n) => [`key-${n}`, `value ${n}`]))
  await plane.client.create(`${base}/configmaps`, {
    metadata: { name: 'wide' },
    data: { ...data, [long]: 'x' },
    binaryData: { bytes: bytes.toString('base64') },
  })
  const spec = await createPod('wide', { volumes: [{ name: 'c', configMap: { name: 'wide' } }] })
  await mountedInTime(spec)
  const directory = mountedAt(spec, 'c')
  expect(readdirSync(directory).filter((name) => !name.startsWith('..'))).toHaveLength(500)
  expect(readFileSync(join(directory, long), 'utf8')).toBe('x')
  expect(readFileSync(join(directory, 'key-497'), 'utf8')).toBe('value 497')
  expect(readFileSync(join(directory, 'bytes')).equals(bytes)).toBe(true)
  await volumes.release(spec.pod.uid)
  await host.removeTree(join(rootDir, 'pods', spec.pod.uid))
})

test('a secret that changes 200 times in a moment, is deleted and made again: few writes, the last content, no gap', async (ctx) => {
  requires(ctx, { root: true, commands: ['mount', 'umount'] })
  const secret = (text: string) => ({ data: { key: Buffer.from(text).toString('base64') } })
  const path = `${base}/secrets/busy`
  await plane.client.create(`${base}/secrets`, { metadata: { name: 'busy' }, ...secret('first') })
  const spec = await createPod('busy', { volumes: [{ name: 's', secret: { secretName: 'busy' } }] })
  await mountedInTime(spec)
  const directory = mountedAt(spec, 's')
  const read = (): string => readFileSync(join(directory, 'key'), 'utf8')
  const versions = new Set<string>()
  const watching = setInterval(() => versions.add(`${readlinkSync(join(directory, '..data'))} ${read()}`), 20)
  const begun = Date.now()
  for (let n = 0; n < 200; n++) await plane.client.patch(path, secret(`turn ${n}`))
  const seconds = (Date.now() - begun) / 1000
  await expect.poll(read, { timeout: 20_000 }).toBe('turn 199')
  clearInterval(watching)
  console.log(`200 changes in ${seconds.toFixed(1)} s were ${versions.size} versions of the file`)
  expect(versions.size).toBeLessThan(seconds + 5)
  await plane.client.remove(path)
  await expect
    .poll(() => events.filter((e) => e.includes('secret "busy" not found')).length, { timeout: 20_000 })
    .toBeGreaterThan(0)
  expect(read()).toBe('turn 199')
  await plane.client.create(`${base}/secrets`, { metadata: { name: 'busy' }, ...secret('again') })
  await expect.poll(read, { timeout: 20_000 }).toBe('again')
  await volumes.release(spec.pod.uid)
  await host.removeTree(join(rootDir, 'pods', spec.pod.uid))
})

test('a kind that no node of this kind can mount waits, with its name in the event', async () => {
  const spec = await createPod('nfs', { volumes: [{ name: 'n', nfs: { server: 's', path: '/' } }] })
  await expect(volumes.mount(spec, signal)).rejects.toThrow(
    'no volume plugin matched name: kubernetes.io/nfs',
  )
})
